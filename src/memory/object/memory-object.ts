import { DurableObject } from "cloudflare:workers";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { EmbeddingClient } from "../../core/memory/embedding-client.ts";
import type { CollectionGateway, TeamOfMemories } from "../../contract/gateways/memory-gateway.ts";
import type { TenantOfMemories } from "../../contract/gateways/tenant-gateway.ts";
import { refuse, type Refused, type Result } from "../../contract/result.ts";
import type { SecretOwners } from "../../secrets/kept-secrets.ts";
import { SealedSecrets } from "../../secrets/sealed-secrets.ts";
import { Database } from "../../sqlite/database.ts";
import { addMethods, type Handlers, typedStub } from "../../sqlite/remote-methods.ts";
import { Collection } from "../documents/collection.ts";
import { OutsideSearch } from "../vectors/outside-search.ts";
import { OutsideVectors } from "../vectors/outside-vectors.ts";
import { type VectorService, vectorizeAbove } from "../vectors/vector-service.ts";
import { Chores } from "./chores.ts";
import {
  KeptMemories,
  type KeptMemoriesMethods,
  memoryHandlers,
} from "../entries/kept-memories.ts";

/** Dependencies of an object of memories on its Worker. */
export interface MemoryEnv {
  TENANT?: DurableObjectNamespace;
  /** Embeds what people add and ask, with the clients of the teams that use it. */
  TEAM?: DurableObjectNamespace;
  /** Encrypts the secrets of embedding clients. */
  SECRETS_KEY?: string;
  /** Searches the vectors that an object has too many of. */
  VECTORIZE?: VectorService;
  /** @see vectorizeAbove */
  VECTORIZE_ABOVE?: string;
}

/** The parts of an object of memories. */
interface ObjectParts {
  collection: Collection;
  memories: KeptMemories;
  vectors: OutsideVectors;
  chores: Chores;
}

const handlers: Handlers<CollectionGateway & KeptMemoriesMethods, ObjectParts> = {
  ...memoryHandlers,
  putCollection: ({ collection }, input) => collection.put(input),
  collection: ({ collection }) => collection.info(),
  deleteCollection: ({ collection }) => collection.delete(),
  embedCollection: ({ collection }) => collection.embed(),
  putDocument: ({ collection }, document, chunks) => collection.putDocument(document, chunks),
  document: ({ collection }, id) => collection.document(id),
  documents: ({ collection }, query) => collection.documents(query),
  chunks: ({ collection }, id, page) => collection.chunks(id, page),
  deleteDocument: ({ collection }, id) => collection.deleteDocument(id),
  searchCollection: ({ collection }, query) => collection.search(query),
};

/**
 * Memories outside of teams as a Durable Object: what is remembered of a user (`TENANT/user/USER`) or of the tenant
 * (`TENANT/tenant`), or a collection of documents (`TENANT/collection/NAME`).
 */
export abstract class TroupeMemory<Env extends MemoryEnv = MemoryEnv> extends DurableObject<Env> {
  static {
    addMethods(this.prototype, handlers, (object) => object.#parts);
  }

  readonly #parts: ObjectParts;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const [tenant = "", ...path] = (ctx.id.name ?? "").split("/");
    const name = path.join("/");
    const owner = (): TenantOfMemories => {
      if (env.TENANT === undefined) throw new TypeError("the binding TENANT is missing");
      return typedStub<TenantOfMemories>(env.TENANT, tenant);
    };
    const db = new Database(ctx.storage);
    const announce = (): Promise<Result<null>> => owner().noteMemories(name);
    const refuseStored = (): Refused | undefined => {
      if (db.size < this.maxBytes) return undefined;
      return refuse(
        507,
        "too_many_stored_bytes",
        `The ${path.length > 1 ? `${path[0]} ${JSON.stringify(path.slice(1).join("/"))}` : "tenant"} stores ${db.size} bytes of memories or documents; the setting MAX_MEMORY_BYTES allows ${this.maxBytes}. Delete some of them first.`,
        { limit: "max_memory_bytes", value: this.maxBytes },
      );
    };
    const shared = {
      db,
      announce,
      refuseStored,
      outside: () => outside,
      changed: () => vectors.check(),
    };
    const memories = new KeptMemories({
      ...shared,
      scope: path[0] === "user" ? "user" : "tenant",
      team(id) {
        if (env.TEAM === undefined) throw new TypeError("the binding TEAM is missing");
        return typedStub<TeamOfMemories>(env.TEAM, `${tenant}/${id}`);
      },
      wake: () => chores.wake("entries", { early: true }),
    });
    const collection = new Collection({
      ...shared,
      id: path.slice(1).join("/"),
      secrets: new SealedSecrets(env.SECRETS_KEY, {
        loadedPaths: (component) => this.secretOwners().loadedPaths(component),
        keyUrl: (component) => this.secretOwners().keyUrl(component),
      }),
      embedding: (component) => this.embedding(component),
      withdraw: () => owner().dropMemories(name),
      erase: () => this.#eraseStorage(),
      wake: () => chores.wake("embedding", { early: true }),
    });
    const chores = new Chores(ctx.storage, {
      embedding: () => collection.embedPending(),
      entries: () => memories.embedWaiting(),
      vectors: () => vectors.work(),
    });
    const { VECTORIZE: service } = env;
    const above = this.vectorizeAbove();
    const vectors = new OutsideVectors({
      db,
      name: `${tenant}/${name}`,
      get index() {
        return path[0] === "collection" ? collection.index : memories.entries.index;
      },
      service,
      above,
      wake: () => chores.wake("vectors", { early: false }),
    });
    const outside = new OutsideSearch(vectors, service, above);
    this.#parts = { collection, memories, vectors, chores };
  }

  /** Builds an embedding client. @throws ComponentError */
  protected abstract embedding(component: ComponentModel): Promise<EmbeddingClient>;

  protected abstract secretOwners(): SecretOwners;

  /** The most bytes that it stores. */
  protected get maxBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** The number of vectors above which the binding VECTORIZE is used. */
  protected vectorizeAbove(): number {
    return vectorizeAbove(this.env.VECTORIZE_ABOVE);
  }

  /** Rows written by this instance so far. */
  get rowsWritten(): number {
    return this.#parts.collection.rowsWritten;
  }

  /** Erases everything, because the tenant is being deleted. */
  async erase(): Promise<void> {
    await this.#parts.collection.erase();
    this.#parts.memories.forget();
  }

  override alarm(): Promise<void> {
    return this.#parts.chores.alarm();
  }

  /** What has to be deleted in the service is known until that is done. */
  async #eraseStorage(): Promise<void> {
    const { vectors, chores } = this.#parts;
    const remains = vectors.leave();
    if (remains) {
      chores.wake("vectors", { early: true });
    } else {
      await this.ctx.storage.deleteAll();
      // Not before: an object that is killed in between would keep its data without the alarm that continues its work. Deleting
      // an alarm that is not set would store something for an object that holds nothing.
      if ((await this.ctx.storage.getAlarm()) !== null) await this.ctx.storage.deleteAlarm();
    }
    vectors.forget();
  }
}
