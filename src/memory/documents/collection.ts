import type { EmbeddingClient } from "../../core/memory/embedding-client.ts";
import type { CollectionResult, Embedding } from "../../core/memory/memory-host.ts";
import type { ComponentModel } from "../../core/component/component-model.ts";
import { errorMessage } from "../../core/errors.ts";
import type {
  ChunkPage,
  CollectionInfo,
  DocumentInfo,
  DocumentPage,
} from "../../contract/files/collection.ts";
import type {
  CollectionGateway,
  DocumentChunk,
  PutCollection,
  PutDocument,
} from "../../contract/gateways/memory-gateway.ts";
import { ok, type Refused, refuse, refuseInput, type Result } from "../../contract/result.ts";
import type { ComponentSecrets } from "../../secrets/component-secrets.ts";
import type { Database } from "../../sqlite/database.ts";
import type { RecallIndex } from "../../sqlite/recall/recall-index.ts";
import {
  type ChunkBody,
  type CollectionRecord,
  CollectionStore,
  documentInfo,
  isPending,
} from "./collection-store.ts";
import { embedPending, tokensOf } from "./embed-pending.ts";
import type { OutsideSearch } from "../vectors/outside-search.ts";

/** Seconds that a search waits for the vector of its question; then words alone decide. */
const QUESTION_TIMEOUT_MS = 20_000;

/** Ends the space of an embedding whose server has started to give vectors of another length, before that length. */
const OTHER_LENGTH = "#";

/** Dependencies of a collection on its object. */
export interface CollectionHost {
  db: Database;
  /** The collection's id. */
  id: string;
  secrets: ComponentSecrets;
  /** Builds an embedding client. @throws ComponentError */
  embedding: (component: ComponentModel) => Promise<EmbeddingClient>;
  /** Reports to the tenant that the object exists, before anything is stored. */
  announce: () => Promise<Result<null>>;
  /** The refusal of further data; undefined while the object is below its limit. */
  refuseStored: () => Refused | undefined;
  /** Reports to the tenant that it no longer exists. */
  withdraw: () => Promise<void>;
  /** Searches the vectors outside of the object, if it has too many to search them itself. */
  outside: () => Pick<OutsideSearch, "find">;
  /** Chunks were changed. */
  changed: () => void;
  /** Erases all that is stored. */
  erase: () => Promise<void>;
  /** Schedules a call of {@link Collection.embedPending}. */
  wake: () => void;
}

type Search = Awaited<ReturnType<CollectionGateway["searchCollection"]>>;

type QuestionCost = NonNullable<CollectionResult["embedding"]>;

/** A collection of documents. */
export class Collection {
  readonly #host: CollectionHost;
  #store: CollectionStore;
  #client: { component: ComponentModel; client: EmbeddingClient } | undefined;

  constructor(host: CollectionHost) {
    this.#host = host;
    this.#store = new CollectionStore(host.db);
  }

  async put({
    description,
    embedding,
  }: PutCollection): Promise<Result<CollectionInfo & { created: boolean }>> {
    const before = this.#store.record;
    let sealed: ComponentModel | null = null;
    let client: EmbeddingClient | undefined;
    if (embedding !== null) {
      try {
        sealed = await this.#host.secrets.seal(embedding, before?.embedding ?? null);
        client = await this.#host.embedding(await this.#host.secrets.open(sealed));
      } catch (error) {
        return refuseInput(error);
      }
    }
    const announced = await this.#announce();
    if (!announced.ok) return announced;
    this.#client =
      sealed !== null && client !== undefined ? { component: sealed, client } : undefined;
    const kept = before?.space ?? null;
    const given = client?.space ?? null;
    const space = kept !== null && baseOf(kept) === given ? kept : given;
    const record = this.#create({ description, embedding: sealed, space });
    return ok({ ...this.#info(record), created: before === undefined });
  }

  /** The index of its chunks. */
  get index(): RecallIndex<ChunkBody> {
    return this.#store.index;
  }

  get rowsWritten(): number {
    return this.#host.db.rowsWritten;
  }

  info(): Result<CollectionInfo> {
    const { record } = this.#store;
    return record === undefined ? collectionNotFound(this.#host.id) : ok(this.#info(record));
  }

  async delete(): Promise<Result<null>> {
    const known = this.#store.record !== undefined;
    await this.erase();
    await this.#host.withdraw();
    return known ? ok(null) : collectionNotFound(this.#host.id);
  }

  async erase(): Promise<void> {
    await this.#host.erase();
    this.#store.forget();
    this.#store = new CollectionStore(this.#host.db);
    this.#client = undefined;
  }

  /** Embeds what has no vector of the present embedding; everything, if its server gives vectors of another length by now. */
  async embed(): Promise<Result<CollectionInfo>> {
    const asked = this.#store.record;
    // A client keeps the vectors that it was given last.
    this.#client = undefined;
    const given = asked && (await this.#dimensionsNow(asked));
    const { record } = this.#store;
    if (record === undefined) return collectionNotFound(this.#host.id);
    if (record.space === null) {
      return refuse(
        409,
        "no_embedding",
        `The collection ${this.#host.id} has no embedding: give it one with PUT /v1/collections/${this.#host.id}.`,
      );
    }
    const changed = { ...record, failures: 0 };
    if (given !== undefined && given !== record.dimensions && record.space === asked?.space) {
      changed.space = `${baseOf(record.space)}${OTHER_LENGTH}${given}`;
      changed.dimensions = given;
    }
    const { space } = changed;
    this.#store.index.change(() => {
      for (const document of this.#store.allDocuments()) {
        if (document.space === space && document.error === null) continue;
        const embedded = document.space === space ? document.embedded : 0;
        this.#store.saveDocument({ ...document, space, embedded, next: 0, error: null });
      }
      this.#store.save(changed);
    });
    this.#host.wake();
    return ok(this.#info(changed));
  }

  async putDocument(
    document: PutDocument,
    chunks: ReadableStream<Uint8Array>,
  ): Promise<Result<DocumentInfo>> {
    const read = await readChunks(chunks);
    const refused = this.#host.refuseStored();
    if (refused) return refused;
    const announced = await this.#announce();
    if (!announced.ok) return announced;
    const record = this.#store.record ?? this.#create(NOTHING);
    // Creates the tables of the index before the transaction: SQLite does not recover from a rollback that creates them.
    this.#store.index.create();
    const stored = this.#store.replaceDocument(document, read, {
      space: record.space,
      version: crypto.randomUUID(),
      now: new Date().toISOString(),
    });
    if (isPending(stored)) this.#host.wake();
    this.#host.changed();
    return ok(documentInfo(stored));
  }

  document(id: string): Result<DocumentInfo> {
    if (this.#store.record === undefined) return collectionNotFound(this.#host.id);
    const record = this.#store.document(id);
    return record === undefined ? documentNotFound(id) : ok(documentInfo(record));
  }

  documents({ limit, cursor = "" }: { limit: number; cursor?: string }): Result<DocumentPage> {
    if (this.#store.record === undefined) return collectionNotFound(this.#host.id);
    const found = this.#store.documents(cursor, limit + 1);
    const documents = found.slice(0, limit).map(documentInfo);
    const next_cursor = found.length > limit ? (documents.at(-1)?.id ?? null) : null;
    return ok({ documents, next_cursor });
  }

  chunks(id: string, { from, limit }: { from: number; limit: number }): Result<ChunkPage> {
    if (this.#store.record === undefined) return collectionNotFound(this.#host.id);
    const record = this.#store.document(id);
    if (record === undefined) return documentNotFound(id);
    const chunks = this.#store.chunks(record, from, limit).map(({ body }) => {
      const { chunk, heading, page, content } = body;
      return { chunk, heading, page, content };
    });
    return ok({ chunks, next_from: from + limit < record.chunks ? from + limit : null });
  }

  deleteDocument(id: string): Result<null> {
    if (this.#store.record === undefined) return collectionNotFound(this.#host.id);
    const record = this.#store.document(id);
    if (record === undefined) return documentNotFound(id);
    this.#store.deleteDocument(record);
    this.#host.changed();
    return ok(null);
  }

  async search({
    q,
    k,
    filter,
    in_run,
  }: Parameters<CollectionGateway["searchCollection"]>[0]): Promise<Search> {
    const { record } = this.#store;
    if (record === undefined) return collectionNotFound(this.#host.id);
    const { embedding, note, cost } = await this.#questionOf(record, q);
    const tokens = cost === undefined ? 0 : tokensOf(cost);
    if (tokens > 0 && !in_run) this.#count(tokens);
    const { elsewhere, note: outside } = await this.#host.outside().find(embedding);
    const { hits, mode } = this.#store.index.search({
      text: q,
      k,
      collection: null,
      filter: filter ?? null,
      ...(embedding && { embedding, elsewhere }),
    });
    const results = hits.map(({ row, similarity, words, score }) => {
      const { document, chunk, heading, page, content } = row.body;
      return { document, chunk, heading, page, content, score: similarity ?? words ?? score };
    });
    const why = note ?? outside ?? (mode === "words" ? this.#noteOn(record) : null);
    return ok({
      results,
      mode,
      ...(why !== null && { note: why }),
      ...(tokens > 0 && cost && { embedding: cost }),
    });
  }

  /** Embeds what waits for it. @returns milliseconds until it continues; undefined when nothing is left to do */
  async embedPending(): Promise<number | undefined> {
    const { record } = this.#store;
    if (record === undefined || record.embedding === null) return undefined;
    const delay = await embedPending(this.#store, {
      id: this.#host.id,
      client: () => this.#clientOf(this.#store.record ?? record),
    });
    this.#host.changed();
    return delay;
  }

  /** The vector of a question; a note where there is none. */
  async #questionOf(
    record: CollectionRecord,
    q: string,
  ): Promise<{ embedding?: Embedding; note?: string; cost?: QuestionCost }> {
    const { space, dimensions } = record;
    if (space === null || dimensions === null) return {};
    try {
      const client = await this.#clientOf(record);
      const signal = AbortSignal.timeout(QUESTION_TIMEOUT_MS);
      const { vectors, ...cost } = await client.embed([q], { signal });
      const [values = []] = vectors;
      if (values.length === dimensions) return { embedding: { space, values }, cost };
      return {
        cost,
        note: `Words only: the embedding server gave ${values.length} numbers for the question, and the documents have ${dimensions}. ${this.#howToEmbed()}`,
      };
    } catch (error) {
      return { note: `Words only: the question could not be embedded. ${errorMessage(error)}` };
    }
  }

  /** Adds the tokens of a question to those of the documents. */
  #count(tokens: number): void {
    const { record } = this.#store;
    if (record === undefined) return;
    this.#store.save({ ...record, embedding_tokens: record.embedding_tokens + tokens });
  }

  /** How many numbers a vector of the embedding has now; undefined where nothing is stored to compare, or no answer comes. */
  async #dimensionsNow(record: CollectionRecord): Promise<number | undefined> {
    if (record.space === null || record.dimensions === null) return undefined;
    try {
      const client = await this.#clientOf(record);
      const signal = AbortSignal.timeout(QUESTION_TIMEOUT_MS);
      const { vectors } = await client.embed([this.#host.id], { signal });
      return vectors[0]?.length;
    } catch {
      // Embedding the documents fails for the same reason, which they then show.
      return undefined;
    }
  }

  async #clientOf({ embedding }: CollectionRecord): Promise<EmbeddingClient> {
    if (embedding === null) throw new TypeError("the collection has no embedding");
    if (this.#client?.component !== embedding) {
      const component = await this.#host.secrets.open(embedding);
      this.#client = { component: embedding, client: await this.#host.embedding(component) };
    }
    return this.#client.client;
  }

  async #announce(): Promise<Result<null>> {
    return this.#store.record === undefined ? this.#host.announce() : ok(null);
  }

  #create(
    changes: Pick<CollectionRecord, "description" | "embedding" | "space">,
  ): CollectionRecord {
    const now = new Date().toISOString();
    const known = this.#store.record;
    const before = known ?? { ...EMPTY, created_at: now };
    const kept = before.space === changes.space ? {} : { dimensions: null, failures: 0 };
    const record = { ...before, ...kept, ...changes, updated_at: now };
    if (known === undefined || known.space === record.space) this.#store.save(record);
    else this.#changeSpace(record);
    return record;
  }

  /** Documents that still wait for their vectors get those of the new embedding. */
  #changeSpace(record: CollectionRecord): void {
    this.#store.index.change(() => {
      this.#store.save(record);
      for (const document of this.#store.allDocuments()) {
        if (!isPending(document)) continue;
        this.#store.saveDocument({ ...document, space: record.space, embedded: 0, next: 0 });
      }
    });
    this.#host.wake();
  }

  #info(record: CollectionRecord): CollectionInfo {
    const { description, embedding, embedding_tokens, created_at, updated_at } = record;
    const totals = { documents: 0, chunks: 0, embedded: 0, failed: 0 };
    for (const document of this.#store.allDocuments()) {
      totals.documents++;
      totals.chunks += document.chunks;
      if (document.space === record.space) totals.embedded += document.embedded;
      if (document.error !== null) totals.failed++;
    }
    return {
      id: this.#host.id,
      description,
      embedding: embedding && this.#host.secrets.redact(embedding),
      ...totals,
      embedding_tokens,
      note: this.#noteOn(record),
      created_at,
      updated_at,
    };
  }

  /** What keeps documents from being found by their meaning. */
  #noteOn(record: CollectionRecord): string | null {
    const documents = [...this.#store.allDocuments()];
    if (record.space === null) {
      return "Words only: the collection has no embedding.";
    }
    const failed = documents.filter(({ error }) => error !== null);
    const [first] = failed;
    if (first !== undefined) {
      const others = failed.length > 1 ? ` and ${failed.length - 1} more` : "";
      return `Words only for "${first.id}"${others}: ${first.error}`;
    }
    const other = documents.filter(({ space }) => space !== record.space).length;
    if (other > 0) {
      return `Words only for ${other} of ${documents.length} documents: they have no vectors of the present embedding. ${this.#howToEmbed()}`;
    }
    const pending = documents.filter(isPending).length;
    return pending === 0
      ? null
      : `${pending} of ${documents.length} documents are still being embedded.`;
  }

  #howToEmbed(): string {
    return `POST /v1/collections/${this.#host.id}/embed embeds them again.`;
  }
}

const NOTHING = { description: null, embedding: null, space: null };

const EMPTY: Omit<CollectionRecord, "created_at"> = {
  ...NOTHING,
  dimensions: null,
  failures: 0,
  failing_since: 0,
  embedding_tokens: 0,
  updated_at: "",
};

/** The space that the embedding client names. */
function baseOf(space: string): string {
  return space.split(OTHER_LENGTH, 1)[0] ?? space;
}

async function readChunks(stream: ReadableStream<Uint8Array>): Promise<DocumentChunk[]> {
  const text = await new Response(stream).text();
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as DocumentChunk);
}

function collectionNotFound(id: string): Refused {
  return refuse(
    404,
    "collection_not_found",
    `There is no collection ${JSON.stringify(id)}; PUT /v1/collections/${id} creates it.`,
  );
}

function documentNotFound(id: string): Refused {
  return refuse(
    404,
    "document_not_found",
    `The collection has no document ${JSON.stringify(id.slice(0, 100))}.`,
  );
}
