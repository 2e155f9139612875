import type { ComponentModel } from "../../core/component/component-model.ts";
import { type DirectoryChange, directoryChange } from "./directory-changes.ts";
import { type ConnectionOptions, eventSource } from "../http/event-source.ts";
import { CommandSender } from "../http/commands.ts";
import { TeamClient } from "./team.ts";
import { type CallOptions, Transport, type TransportOptions } from "../http/transport.ts";
import type {
  StartedConnection,
  ChangeMemory,
  ChunkPage,
  CollectionInfo,
  CollectionList,
  CollectionResult,
  CreateMemories,
  DocumentInfo,
  DocumentList,
  FileContent,
  FoundInTeams,
  Forgotten,
  Memory,
  MemoryList,
  PutCollection,
  SearchCollection,
  CreatedKey,
  ConnectionList,
  PutSkill,
  SkillInfo,
  SkillPage,
  SkillVersionPage,
  CreateConnection,
  CreateKey,
  CreateTeam,
  DeliveryPage,
  Keys,
  KnownComponent,
  PutWebhook,
  RequestList,
  RotateSecret,
  FailureList,
  RunList,
  StoredWebhook,
  TeamList,
  TenantInfo,
  TenantList,
  Template,
  Validity,
  UsageReport,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
  WhoAmI,
} from "../http/wire.ts";

const DOCUMENT = "GET /v1/collections/:collection/documents/:document";

/** A document to put into a collection. */
export interface NewDocument {
  content: FileContent;
  /** Its media type, such as `text/markdown` or `application/pdf`. */
  type: string;
  /** Default: the title that it has. */
  title?: string | undefined;
}

/** Parameters of a list. */
export type Query = { readonly [name: string]: string | number | undefined };

/**
 * A client of a Troupe server, for browsers, Node and Workers.
 *
 * @example
 * const client = new TroupeClient({ baseURL: "http://localhost:8787" });
 * const team = await client.teams.create({ template: "assistant" });
 * const { messages } = await team.run("Say hello.").result();
 */
export class TroupeClient {
  readonly #transport: Transport;
  readonly #commands: CommandSender;

  constructor(options: TransportOptions) {
    this.#transport = new Transport(options);
    this.#commands = new CommandSender(this.#transport, {});
  }

  /** The team with this id. No request is sent. */
  team(id: string): TeamClient {
    return new TeamClient(this.#transport, id);
  }

  readonly teams = {
    /** Creates a team from a component or a template, or from a dump as it is. */
    create: async (
      team: CreateTeam | ComponentModel,
      call: CallOptions = {},
    ): Promise<TeamClient> => {
      const { id } = await this.#commands.once("POST /v1/teams", {}, team, call);
      return this.team(id);
    },
    /** Teams, newest activity first. `metadata.KEY` filters by metadata. */
    list: (query: Query = {}): Promise<TeamList> =>
      this.#commands.json("GET /v1/teams", {}, { query }),
  };

  /** Teams that can be created by name. */
  async templates(): Promise<Template[]> {
    const { templates } = await this.#commands.json("GET /v1/templates", {});
    return templates;
  }

  /** The classes that component JSON can use, each with the JSON Schema of its config. */
  async components(): Promise<KnownComponent[]> {
    const { components } = await this.#commands.json("GET /v1/components", {});
    return components;
  }

  /**
   * Checks a component without creating a team.
   *
   * @throws ApiError whose `problem.errors` lists all mistakes with their paths
   */
  validate(component: NonNullable<CreateTeam["component"]>): Promise<Validity> {
    return this.#commands.json("POST /v1/components/validate", {}, { body: { component } });
  }

  readonly runs = {
    /** Runs over all teams. */
    list: (query: Query = {}): Promise<RunList> =>
      this.#commands.json("GET /v1/runs", {}, { query }),
    /** Failed runs over all teams, in groups of the same failure. */
    failures: (query: Query = {}): Promise<FailureList> =>
      this.#commands.json("GET /v1/runs/failures", {}, { query }),
  };

  readonly messages = {
    /** Messages that contain a text, of the teams that were active last; `next_cursor` asks the next ones. */
    search: (query: { q: string; limit?: number; cursor?: string }): Promise<FoundInTeams> =>
      this.#commands.json("GET /v1/messages/search", {}, { query }),
  };

  readonly requests = {
    /** Open questions to humans over all teams. */
    list: (query: Query = {}): Promise<RequestList> =>
      this.#commands.json("GET /v1/requests", {}, { query }),
  };

  /** The tenants, for the operator. */
  readonly tenants = {
    list: (query: Query = {}): Promise<TenantList> =>
      this.#commands.json("GET /v1/tenants", {}, { query }),
    /** A tenant with its limits and what it has. */
    get: (id: string): Promise<TenantInfo> =>
      this.#commands.json("GET /v1/tenants/:tenant", { tenant: id }),
  };

  readonly keys = {
    /** Creates a key. Only this response contains the key itself. */
    create: (key: CreateKey): Promise<CreatedKey> =>
      this.#commands.json("POST /v1/keys", {}, { body: key }),
    /** A page, newest first. */
    list: (query: Query = {}): Promise<Keys> => this.#commands.json("GET /v1/keys", {}, { query }),
    revoke: (id: string): Promise<void> => this.#commands.json("DELETE /v1/keys/:key", { key: id }),
  };

  /** Logins of the tenant and its users at MCP servers. */
  readonly connections = {
    /** Begins a login; a human opens its `authorization_url`. */
    create: (connection: CreateConnection): Promise<StartedConnection> =>
      this.#commands.json("POST /v1/connections", {}, { body: connection }),
    /** A page, by user and server. */
    list: (query: Query = {}): Promise<ConnectionList> =>
      this.#commands.json("GET /v1/connections", {}, { query }),
    /** Forgets a connection with its tokens, which the authorization server revokes if it can. */
    delete: (id: string): Promise<void> =>
      this.#commands.json("DELETE /v1/connections/:connection", { connection: id }),
  };

  readonly memories = {
    /**
     * The memories of a team, a user or the tenant, newest first; with `q` the results that an agent would get, the best
     * first.
     */
    list: (query: Query): Promise<MemoryList> =>
      this.#commands.json("GET /v1/memories", {}, { query }),
    /** Adds an entry, or several with `memories`: all or none. */
    add: async (memory: CreateMemories): Promise<Memory[]> => {
      const added = await this.#commands.json("POST /v1/memories", {}, { body: memory });
      return "memories" in added ? added.memories : [added];
    },
    /** Corrects an entry. */
    change: (id: string, changes: ChangeMemory): Promise<Memory> =>
      this.#commands.json("PATCH /v1/memories/:memory", { memory: id }, { body: changes }),
    /** Forgets an entry for good. */
    forget: (id: string): Promise<void> =>
      this.#commands.json("DELETE /v1/memories/:memory", { memory: id }),
    /**
     * Takes back what a run has learned (`run`), or erases all memories of a user (`user`) or of the tenant (`scope: "tenant"`).
     * `forgotten` is null if the memories were damaged and could not be counted.
     */
    erase: async (query: Query): Promise<Forgotten> =>
      (await this.#commands.json("DELETE /v1/memories", {}, { query })) ?? { forgotten: null },
  };

  readonly collections = {
    list: (query: Query = {}): Promise<CollectionList> =>
      this.#commands.json("GET /v1/collections", {}, { query }),
    get: (collection: string): Promise<CollectionInfo> =>
      this.#commands.json("GET /v1/collections/:collection", { collection }),
    /** Creates a collection, or replaces its description and embedding. */
    put: (collection: string, changes: PutCollection = {}): Promise<CollectionInfo> =>
      this.#commands.json("PUT /v1/collections/:collection", { collection }, { body: changes }),
    /** Deletes it with its documents. */
    delete: (collection: string): Promise<void> =>
      this.#commands.json("DELETE /v1/collections/:collection", { collection }),
    /** Embeds what has no vector of its present embedding. */
    embed: (collection: string): Promise<CollectionInfo> =>
      this.#commands.json("POST /v1/collections/:collection/embed", { collection }),
    /** The parts of its documents that answer a question, the best first. */
    search: (collection: string, query: SearchCollection): Promise<CollectionResult> =>
      this.#commands.json(
        "POST /v1/collections/:collection/search",
        { collection },
        { body: query },
      ),
    documents: (collection: string, query: Query = {}): Promise<DocumentList> =>
      this.#commands.json("GET /v1/collections/:collection/documents", { collection }, { query }),
    document: (collection: string, document: string): Promise<DocumentInfo> =>
      this.#commands.json(DOCUMENT, { collection, document }),
    /** The parts of a document in their order, `from` one of them. */
    chunks: (collection: string, document: string, query: Query = {}): Promise<ChunkPage> =>
      this.#commands.json(
        "GET /v1/collections/:collection/documents/:document/chunks",
        { collection, document },
        { query },
      ),
    /** Puts a document. The result says how far it is embedded, which `document` shows later. */
    putDocument: (
      collection: string,
      document: string,
      { content, type, title }: NewDocument,
    ): Promise<DocumentInfo> =>
      this.#commands.json(
        "PUT /v1/collections/:collection/documents/:document",
        { collection, document },
        { content, query: { title }, headers: { "content-type": type } },
      ),
    deleteDocument: (collection: string, document: string): Promise<void> =>
      this.#commands.json("DELETE /v1/collections/:collection/documents/:document", {
        collection,
        document,
      }),
  };

  /** Skills of the tenant, which its agents load when a task needs them. */
  readonly skills = {
    /** A page, by name. */
    list: (query: Query = {}): Promise<SkillPage> =>
      this.#commands.json("GET /v1/skills", {}, { query }),
    /** The newest version, or another one. */
    get: (name: string, query: { version?: number } = {}): Promise<SkillInfo> =>
      this.#commands.json("GET /v1/skills/:skill", { skill: name }, { query }),
    /** Puts the files of a folder, or a zip archive of it. Equal files make no new version. */
    put: (name: string, skill: PutSkill["files"] | Blob): Promise<SkillInfo> => {
      const isArchive = skill instanceof Blob;
      return this.#commands.json(
        "PUT /v1/skills/:skill",
        { skill: name },
        {
          content: isArchive ? skill : JSON.stringify({ files: skill }),
          headers: { "content-type": isArchive ? "application/zip" : "application/json" },
        },
      );
    },
    /** The versions, the newest first. */
    versions: (name: string, query: Query = {}): Promise<SkillVersionPage> =>
      this.#commands.json("GET /v1/skills/:skill/versions", { skill: name }, { query }),
    /** Deletes it with all its versions. */
    delete: (name: string): Promise<void> =>
      this.#commands.json("DELETE /v1/skills/:skill", { skill: name }),
  };

  readonly webhooks = {
    list: async (): Promise<WebhookInfo[]> => {
      const { webhooks } = await this.#commands.json("GET /v1/webhooks", {});
      return webhooks;
    },
    get: (id: string): Promise<WebhookInfo> =>
      this.#commands.json("GET /v1/webhooks/:webhook", { webhook: id }),
    /** Creates the webhook; only this response contains its secret. Replaces an existing one and keeps its secret. */
    put: (id: string, webhook: PutWebhook): Promise<StoredWebhook> =>
      this.#commands.json("PUT /v1/webhooks/:webhook", { webhook: id }, { body: webhook }),
    /** Deletes the webhook and its deliveries. */
    delete: (id: string): Promise<void> =>
      this.#commands.json("DELETE /v1/webhooks/:webhook", { webhook: id }),
    /** Sends `webhook.test` once, now. */
    test: (id: string): Promise<WebhookTest> =>
      this.#commands.json("POST /v1/webhooks/:webhook/test", { webhook: id }),
    /** Creates a new secret. The old one stays valid for a day unless it is revoked. `default` rotates the tenant's secret. */
    rotateSecret: (id: string, options?: RotateSecret): Promise<WebhookSecret> =>
      this.#commands.json(
        "POST /v1/webhooks/:webhook/rotate_secret",
        { webhook: id },
        { body: options },
      ),
    /** The tenant's secret, which signs webhooks of runs without a secret. */
    defaultSecret: (): Promise<WebhookSecret> =>
      this.#commands.json("GET /v1/webhooks/default/secret", {}),
    /** Deliveries, newest first; `default` lists those to webhooks of runs. */
    deliveries: (id: string, query: Query = {}): Promise<DeliveryPage> =>
      this.#commands.json("GET /v1/webhooks/:webhook/deliveries", { webhook: id }, { query }),
    /** Sends a delivery again, whatever its status. */
    retry: (id: string, delivery: string): Promise<WebhookDelivery> =>
      this.#commands.json("POST /v1/webhooks/:webhook/deliveries/:delivery/retry", {
        webhook: id,
        delivery,
      }),
  };

  /**
   * Follows changes in the lists over all teams until the loop is left. Load the lists once `onConnection` reports `open`, and
   * no change is missed.
   */
  async *events(connection: ConnectionOptions = {}): AsyncGenerator<DirectoryChange, void, void> {
    const open = (lastId: string | undefined, signal: AbortSignal): Promise<Response> =>
      this.#commands.stream("GET /v1/events", {}, lastId, signal);
    for await (const event of eventSource({ ...connection, open })) {
      const change = directoryChange(event);
      if (change !== undefined) yield change;
    }
  }

  /** Usage of runs by day, team or model. */
  usage(query: Query = {}): Promise<UsageReport> {
    return this.#commands.json("GET /v1/usage", {}, { query });
  }

  /** The tenant, scopes and expiry of the credential. */
  whoami(): Promise<WhoAmI> {
    return this.#commands.json("GET /v1/whoami", {});
  }
}
