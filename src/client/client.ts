import { type DirectoryChange, directoryChange } from "./directory-changes.ts";
import { type ConnectionOptions, eventSource } from "./event-source.ts";
import { TeamClient } from "./team.ts";
import { type CallOptions, Transport, type TransportOptions } from "./transport.ts";
import type {
  CreatedKey,
  CreateKey,
  CreateTeam,
  DeliveryPage,
  Keys,
  KnownComponent,
  NotedTeam,
  PutWebhook,
  RequestList,
  RotateSecret,
  RunList,
  StoredWebhook,
  TeamList,
  Template,
  Validity,
  UsageReport,
  WebhookDelivery,
  WebhookInfo,
  WebhookSecret,
  WebhookTest,
  WhoAmI,
} from "./wire.ts";

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

  constructor(options: TransportOptions) {
    this.#transport = new Transport(options);
  }

  /** A team by its id, without a request. */
  team(id: string): TeamClient {
    return new TeamClient(this.#transport, id);
  }

  readonly teams = {
    /** Creates a team from a component or a template. */
    create: async (team: CreateTeam, call: CallOptions = {}): Promise<TeamClient> => {
      const { id } = await this.#transport.post<NotedTeam>("/v1/teams", team, call);
      return this.team(id);
    },
    /** Teams, newest activity first. `metadata.KEY` filters by metadata. */
    list: (query: Query = {}): Promise<TeamList> => this.#transport.json("/v1/teams", { query }),
  };

  /** Teams that can be created by name. */
  async templates(): Promise<Template[]> {
    const { templates } = await this.#transport.json<{ templates: Template[] }>("/v1/templates");
    return templates;
  }

  /** The classes that component JSON can name, each with the JSON Schema of its config. */
  async components(): Promise<KnownComponent[]> {
    const { components } = await this.#transport.json<{ components: KnownComponent[] }>(
      "/v1/components",
    );
    return components;
  }

  /**
   * Checks a component without creating a team.
   *
   * @throws ApiError whose `problem.errors` has all mistakes with their paths
   */
  validate(component: NonNullable<CreateTeam["component"]>): Promise<Validity> {
    const call = { method: "POST", body: { component } } as const;
    return this.#transport.json("/v1/components/validate", call);
  }

  readonly runs = {
    /** Runs over all teams. */
    list: (query: Query = {}): Promise<RunList> => this.#transport.json("/v1/runs", { query }),
  };

  readonly requests = {
    /** Open questions to humans over all teams. */
    list: (query: Query = {}): Promise<RequestList> =>
      this.#transport.json("/v1/requests", { query }),
  };

  readonly keys = {
    /** Creates a key; this answer is the only one that shows it. */
    create: (key: CreateKey): Promise<CreatedKey> =>
      this.#transport.json("/v1/keys", { method: "POST", body: key }),
    /** A page, newest first. */
    list: (query: Query = {}): Promise<Keys> => this.#transport.json("/v1/keys", { query }),
    revoke: (id: string): Promise<void> =>
      this.#transport.json(`/v1/keys/${encodeURIComponent(id)}`, { method: "DELETE" }),
  };

  readonly webhooks = {
    list: async (): Promise<WebhookInfo[]> => {
      const { webhooks } = await this.#transport.json<{ webhooks: WebhookInfo[] }>("/v1/webhooks");
      return webhooks;
    },
    get: (id: string): Promise<WebhookInfo> => this.#webhook(id),
    /** Creates the webhook, whose secret only this answer shows, or replaces it and keeps its secret. */
    put: (id: string, webhook: PutWebhook): Promise<StoredWebhook> =>
      this.#webhook(id, "", "PUT", webhook),
    /** Deletes the webhook and its deliveries. */
    delete: (id: string): Promise<void> => this.#webhook(id, "", "DELETE"),
    /** Sends `webhook.test` once, now. */
    test: (id: string): Promise<WebhookTest> => this.#webhook(id, "/test", "POST"),
    /** A new secret; the one before is valid for another day, unless it is revoked. Of `default` the tenant's. */
    rotateSecret: (id: string, options?: RotateSecret): Promise<WebhookSecret> =>
      this.#webhook(id, "/rotate_secret", "POST", options),
    /** The tenant's secret, which signs for webhooks of runs that bring none. */
    defaultSecret: (): Promise<WebhookSecret> => this.#webhook("default", "/secret"),
    /** Deliveries, newest first; of `default` those of webhooks of runs. */
    deliveries: (id: string, query: Query = {}): Promise<DeliveryPage> =>
      this.#transport.json(`/v1/webhooks/${encodeURIComponent(id)}/deliveries`, { query }),
    /** Sends a delivery again, whatever its status. */
    retry: (id: string, delivery: string): Promise<WebhookDelivery> =>
      this.#webhook(id, `/deliveries/${encodeURIComponent(delivery)}/retry`, "POST"),
  };

  /**
   * Changes in the lists over all teams from now on, until the loop is left. Lists that are loaded when `onConnection` says
   * `open`, or later, miss none.
   */
  async *events(connection: ConnectionOptions = {}): AsyncGenerator<DirectoryChange, void, void> {
    const open = (lastId: string | undefined, signal: AbortSignal): Promise<Response> =>
      this.#transport.stream("/v1/events", lastId, signal);
    for await (const event of eventSource({ ...connection, open })) {
      const change = directoryChange(event);
      if (change !== undefined) yield change;
    }
  }

  /** What runs used, by day, team or model. */
  usage(query: Query = {}): Promise<UsageReport> {
    return this.#transport.json("/v1/usage", { query });
  }

  /** The tenant, scopes and expiry of the credential. */
  whoami(): Promise<WhoAmI> {
    return this.#transport.json("/v1/whoami");
  }

  #webhook<T>(
    id: string,
    path = "",
    method: "GET" | "PUT" | "POST" | "DELETE" = "GET",
    body?: PutWebhook | RotateSecret,
  ): Promise<T> {
    const call = { method, body };
    return this.#transport.json(`/v1/webhooks/${encodeURIComponent(id)}${path}`, call);
  }
}
