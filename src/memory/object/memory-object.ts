import { DurableObject } from "cloudflare:workers";
import type { ComponentModel } from "../../core/component/component-model.ts";
import type { EmbeddingClient } from "../../core/memory/embedding-client.ts";
import { loadStemmers } from "../../core/search/stem.ts";
import type { CollectionGateway } from "../../contract/gateways/memory-gateway.ts";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import { NEWER_DATA, refuseUnusable } from "../../contract/stored-data.ts";
import type { SecretOwners } from "../../secrets/kept-secrets.ts";
import { addMethods, type Handlers, memoriesNamed } from "../../sqlite/remote-methods.ts";
import { type KeptMemoriesMethods, memoryHandlers } from "../entries/kept-memories.ts";
import { vectorizeAbove } from "../vectors/vector-service.ts";
import { loadParts, type MemoryEnv, type MemoryParts } from "./memory-parts.ts";

/** The alarm of data that cannot be used fires again after this time. */
const REFUSED_AGAIN_MS = 60_000;

const handlers: Handlers<CollectionGateway & KeptMemoriesMethods, MemoryParts> = {
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

  #loaded: MemoryParts | undefined;
  /** Why what is stored cannot be used. */
  #refused: Refused | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    // Its transactions index and search words, and cannot wait for an import.
    void ctx.blockConcurrencyWhile(loadStemmers);
    this.#load();
  }

  /** @throws an error with the refusal, if what is stored cannot be used */
  get #parts(): MemoryParts {
    if (this.#loaded === undefined) throw new Error(this.#refused?.problem.detail);
    return this.#loaded;
  }

  /** Refuses unusable data instead of failing: the object must be there to erase it, and for its alarm. */
  #load(): void {
    const { ctx, env } = this;
    this.#refused = undefined;
    try {
      this.#loaded = loadParts({
        ctx,
        env,
        embedding: (component) => this.embedding(component),
        secretOwners: () => this.secretOwners(),
        maxBytes: () => this.maxBytes,
        vectorizeAbove: this.vectorizeAbove(),
      });
    } catch (error) {
      const [tenant = "", ...name] = (ctx.id.name ?? "").split("/");
      this.#refused = refuseUnusable(error, memoriesNamed(tenant, name.join("/")).object);
    }
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
  async erase(): Promise<Result<null>> {
    const { collection, memories } = this.#parts;
    await collection.erase();
    memories.forget();
    return ok(null);
  }

  /** Erases what is stored without reading it: it cannot be read. Nothing is erased of a newer version. */
  async wipe(): Promise<Result<null>> {
    if (this.#refused?.problem.code === NEWER_DATA) return this.#refused;
    const parts = this.#loaded;
    this.#loaded = undefined;
    await this.ctx.storage.deleteAll();
    await this.ctx.storage.deleteAlarm();
    // Work that is under way must not write for what is gone.
    parts?.collection.forget();
    parts?.memories.forget();
    parts?.vectors.forget();
    this.#load();
    return ok(null);
  }

  override async alarm(): Promise<void> {
    if (this.#loaded !== undefined) return this.#loaded.chores.alarm();
    // The alarm belongs to what is stored, which continues with a version that can read it.
    await this.ctx.storage.setAlarm(Date.now() + REFUSED_AGAIN_MS);
  }
}
