import { beginningOf } from "../../core/cut.ts";
import { letOthersRun } from "../../core/wait.ts";
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
import type { Database } from "../../sqlite/database.ts";
import type { RecallIndex } from "../../sqlite/recall/recall-index.ts";
import {
  type ChunkBody,
  type CollectionRecord,
  CollectionStore,
  documentInfo,
  isPending,
} from "./collection-store.ts";
import {
  CollectionEmbedding,
  type CollectionEmbeddingHost,
  type SealedEmbedding,
  spaceOfLength,
  spaceWith,
} from "./collection-embedding.ts";
import { embedPending, tokensOf } from "./embed-pending.ts";
import { chunkBatches } from "./chunk-batches.ts";
import type { OutsideSearch } from "../vectors/outside-search.ts";

/** Dependencies of a collection on its object. */
export interface CollectionHost extends CollectionEmbeddingHost {
  db: Database;
  /** Reports to the tenant that the object exists, before it stores more. Refused over a limit of the tenant. */
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
  /** Schedules a call of {@link Collection.renewWords}. */
  onOutdated: () => void;
  /** Schedules a call of {@link Collection.sweep}. */
  onAbandoned: () => void;
}

type Search = Awaited<ReturnType<CollectionGateway["searchCollection"]>>;

/** A collection of documents. */
export class Collection {
  readonly #host: CollectionHost;
  /** Another one after all was erased. */
  #store: CollectionStore;
  /** The last deletion; resolved unless it is under way. */
  #deletion: Promise<unknown> = Promise.resolve();
  readonly #embedding: CollectionEmbedding;

  constructor(host: CollectionHost) {
    this.#host = host;
    this.#embedding = new CollectionEmbedding(host);
    this.#store = new CollectionStore(host.db, host.onOutdated, host.onAbandoned);
  }

  async put({
    description,
    embedding,
    language,
  }: PutCollection): Promise<Result<CollectionInfo & { created: boolean }>> {
    const before = this.#store.record;
    let sealed: SealedEmbedding | undefined;
    try {
      sealed =
        embedding === null
          ? undefined
          : await this.#embedding.seal(embedding, before?.embedding ?? null);
    } catch (error) {
      return refuseInput(error);
    }
    const space = spaceWith(sealed?.client, before?.space ?? null);
    const create = (): CollectionRecord => {
      this.#embedding.use(sealed);
      const component = sealed?.component ?? null;
      return this.#create({ description, embedding: component, space, language });
    };
    const created =
      this.#store.record === undefined ? await this.#whenAnnounced(create) : ok(create());
    if (!created.ok) return created;
    const record = created.value;
    this.#host.changed();
    if (language !== (before?.language ?? "auto")) this.#host.onOutdated();
    if (this.isLocked) this.#host.wake();
    return ok({ ...this.#info(record), created: before === undefined });
  }

  /** The index of its chunks. */
  get index(): RecallIndex<ChunkBody> {
    return this.#store.index;
  }

  /** True while documents wait for the SECRETS_KEY that the embedding's secrets were stored with. */
  get isLocked(): boolean {
    return this.#store.record?.locked === true;
  }

  get rowsWritten(): number {
    return this.#host.db.rowsWritten;
  }

  info(): Result<CollectionInfo> {
    const { record } = this.#store;
    return record === undefined ? collectionNotFound(this.#host.id) : ok(this.#info(record));
  }

  async delete(): Promise<Result<null>> {
    const existed = this.#store.record !== undefined;
    const deletion = this.erase().then(() => this.#host.withdraw());
    this.#deletion = deletion.catch(() => undefined);
    await deletion;
    return existed ? ok(null) : collectionNotFound(this.#host.id);
  }

  async erase(): Promise<void> {
    await this.#host.erase();
    this.forget();
    this.#store = new CollectionStore(this.#host.db, this.#host.onOutdated, this.#host.onAbandoned);
  }

  /** Everything was erased. */
  forget(): void {
    this.#store.forget();
    this.#embedding.use();
  }

  /** Embeds what has no vector of the present embedding; everything, if its server gives vectors of another length by now. */
  async embed(): Promise<Result<CollectionInfo>> {
    const asked = this.#store.record;
    this.#embedding.use();
    const dimensions = asked && (await this.#embedding.dimensionsNow(asked));
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
    if (
      dimensions !== undefined &&
      dimensions !== record.dimensions &&
      record.space === asked?.space
    ) {
      changed.space = spaceOfLength(record.space, dimensions);
      changed.dimensions = dimensions;
    }
    const { space } = changed;
    this.#store.index.change(() => {
      for (const document of this.#store.allDocuments()) {
        if (document.space === space && document.error === null) continue;
        const embedded = document.space === space ? document.embedded : 0;
        this.#store.saveDocument({
          ...document,
          space,
          embedded,
          next: 0,
          error: null,
          waits: false,
        });
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
    const begin = (): CollectionStore => {
      if (this.#store.record === undefined) this.#create(NOTHING);
      // Creates the tables of the index before the transaction: SQLite does not recover from a rollback that creates them.
      this.#store.index.create();
      return this.#store;
    };
    const begun = this.#host.refuseStored() ?? (await this.#whenAnnounced(begin));
    if (!begun.ok) {
      await chunks.cancel();
      return begun;
    }
    const store = begun.value;
    const writer = store.write(document, crypto.randomUUID());
    const deleted = (): boolean => store !== this.#store || store.record === undefined;
    try {
      let last: DocumentChunk[] = [];
      for await (const batch of chunkBatches(chunks)) {
        if (deleted()) return collectionNotFound(this.#host.id);
        if (last.length > 0) writer.add(last);
        last = batch;
        await letOthersRun();
      }
      if (deleted()) return collectionNotFound(this.#host.id);
      const stored = writer.finish(last);
      if (isPending(stored)) this.#host.wake();
      this.#host.changed();
      return ok(documentInfo(stored));
    } finally {
      writer.leave();
    }
  }

  /** Removes some of the chunks that belong to no document. @returns milliseconds until it continues; undefined when none are left */
  sweep(): number | undefined {
    return this.#store.abandoned.sweep();
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
    const { embedding, note, cost } = await this.#embedding.questionOf(record, q);
    const tokens = cost === undefined ? 0 : tokensOf(cost);
    if (tokens > 0 && !in_run) this.#count(tokens);
    const { elsewhere, note: outside } = await this.#host.outside().find(embedding);
    const { hits, mode } = this.#store.index.search({
      text: q,
      k,
      collection: null,
      filter: filter ?? null,
      language: record.language,
      hidden: this.#store.abandoned.filter(),
      ...(embedding && { embedding, elsewhere }),
    });
    const results = hits.map(({ row, similarity, words, score }) => {
      const { document, chunk, heading, page, content } = row.body;
      return { document, chunk, heading, page, content, score: similarity ?? words ?? score };
    });
    const why =
      note ??
      outside ??
      (mode === "words" ? this.#embedding.noteOn(record, [...this.#store.allDocuments()]) : null);
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
      client: () => this.#embedding.clientOf(this.#store.record ?? record),
    });
    this.#host.changed();
    return delay;
  }

  /** Adds the words of some chunks again that are outdated. @returns whether others wait */
  renewWords(): boolean {
    const { record } = this.#store;
    return record !== undefined && this.#store.index.renewWords(record.language ?? "auto");
  }

  /** Adds the tokens of a question to those of the documents. */
  #count(tokens: number): void {
    const { record } = this.#store;
    if (record === undefined) return;
    this.#store.save({ ...record, embedding_tokens: record.embedding_tokens + tokens });
  }

  /**
   * Makes a change once the tenant knows the object. A deletion makes the tenant forget it, so the object is announced again after
   * one that came meanwhile.
   */
  async #whenAnnounced<T>(make: () => T): Promise<Result<T>> {
    for (;;) {
      await this.#deletion;
      const store = this.#store;
      const announced = await this.#host.announce();
      if (!announced.ok) return announced;
      if (store === this.#store) return ok(make());
    }
  }

  #create(
    changes: Pick<CollectionRecord, "description" | "embedding" | "space" | "language">,
  ): CollectionRecord {
    const now = new Date().toISOString();
    const earlier = this.#store.record;
    const before = earlier ?? { ...EMPTY, created_at: now };
    const kept = before.space === changes.space ? {} : { dimensions: null, failures: 0 };
    const record = { ...before, ...kept, ...changes, updated_at: now };
    if (earlier === undefined || earlier.space === record.space) this.#store.save(record);
    else this.#changeSpace(record);
    return record;
  }

  /** Documents that still wait for their vectors get those of the new embedding. */
  #changeSpace(record: CollectionRecord): void {
    this.#store.index.change(() => {
      this.#store.save(record);
      for (const document of this.#store.allDocuments()) {
        if (!isPending(document)) continue;
        const again = { space: record.space, embedded: 0, next: 0, error: null, waits: false };
        this.#store.saveDocument({ ...document, ...again });
      }
    });
    this.#host.wake();
  }

  #info(record: CollectionRecord): CollectionInfo {
    const { description, embedding, embedding_tokens, created_at, updated_at } = record;
    const { language = "auto" } = record;
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
      language,
      ...totals,
      embedding_tokens,
      note: this.#embedding.noteOn(record, [...this.#store.allDocuments()]),
      created_at,
      updated_at,
    };
  }
}

const NOTHING = { description: null, embedding: null, space: null, language: "auto" } as const;

const EMPTY: Omit<CollectionRecord, "created_at"> = {
  ...NOTHING,
  dimensions: null,
  failures: 0,
  failing_since: 0,
  embedding_tokens: 0,
  updated_at: "",
};

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
    `The collection has no document ${JSON.stringify(beginningOf(id, 100))}.`,
  );
}
