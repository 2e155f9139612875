import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { DocumentInfo } from "../../contract/files/collection.ts";
import type { DocumentChunk, PutDocument } from "../../contract/gateways/memory-gateway.ts";
import type { Database } from "../../sqlite/database.ts";
import { type EntryBody, type EntryRow } from "../../sqlite/recall/entry-table.ts";
import { RecallIndex, storedVector } from "../../sqlite/recall/recall-index.ts";
import { TextStore } from "../../sqlite/text-store.ts";

/** The stored data of the collection itself. */
export interface CollectionRecord {
  description: string | null;
  /** With sealed secrets. */
  embedding: ComponentModel | null;
  /** Names the vectors of the embedding; null without one. */
  space: string | null;
  /** Numbers of the first vector of this space; null before. */
  dimensions: number | null;
  /** Attempts to embed that have failed in a row, and when the first of them did, epoch milliseconds. */
  failures: number;
  failing_since: number;
  embedding_tokens: number;
  created_at: string;
  updated_at: string;
}

/** The stored data of a document besides its chunks. */
export interface DocumentRecord extends PutDocument {
  /** Differs for everything that was ever put. */
  version: string;
  /** The space of its vectors; null if it is not to be embedded. */
  space: string | null;
  chunks: number;
  embedded: number;
  /** Chunks before this one need no vector any more. */
  next: number;
  error: string | null;
  created_at: string;
  updated_at: string;
}

/** A chunk in the index. Its metadata are those of its document. */
export interface ChunkBody extends EntryBody, DocumentChunk {
  document: string;
  metadata: JsonObject;
}

export type ChunkRow = EntryRow<ChunkBody>;

const COLLECTION = "(n integer primary key, record text not null)";
const DOCUMENT = "(id text primary key, record text not null) without rowid";

/** The text of a chunk that is searched and embedded: its headings say what it is about. */
export function chunkText({
  heading,
  content,
}: Pick<DocumentChunk, "heading" | "content">): string {
  return heading === null ? content : `${heading}\n\n${content}`;
}

/** The tables of a collection: its own row, its documents, and the index of their chunks. */
export class CollectionStore {
  readonly index: RecallIndex<ChunkBody>;
  readonly #db: Database;
  #record: CollectionRecord | undefined;

  constructor(db: Database) {
    this.#db = db;
    this.index = new RecallIndex<ChunkBody>(db, new TextStore(db), "chunk", chunkText);
    if (db.hasTable("collection")) {
      const row = db.first<{ record: string }>("select record from collection");
      this.#record = row && (JSON.parse(row.record) as CollectionRecord);
    }
  }

  /** Undefined as long as there is no collection. */
  get record(): CollectionRecord | undefined {
    return this.#record;
  }

  /** After everything was erased, also for work that is under way. */
  forget(): void {
    this.#record = undefined;
    this.index.forget();
  }

  save(record: CollectionRecord): void {
    if (this.#record === undefined) {
      this.#db.write(`create table if not exists collection ${COLLECTION}`);
      this.#db.write(`create table if not exists document ${DOCUMENT}`);
    }
    this.#db.write("insert or replace into collection values (1, ?)", JSON.stringify(record));
    this.#record = record;
  }

  document(id: string): DocumentRecord | undefined {
    if (this.#record === undefined) return undefined;
    const row = this.#db.first<{ record: string }>("select record from document where id = ?", id);
    return row && (JSON.parse(row.record) as DocumentRecord);
  }

  /** By id, those after one. */
  documents(after: string, limit: number): DocumentRecord[] {
    if (this.#record === undefined) return [];
    return this.#db
      .all<{ record: string }>(
        "select record from document where id > ? order by id limit ?",
        after,
        limit,
      )
      .map(({ record }) => JSON.parse(record) as DocumentRecord);
  }

  *allDocuments(): Iterable<DocumentRecord> {
    if (this.#record === undefined) return;
    const rows = this.#db.each<{ id: string; record: string }>(
      "select id, record from document where id > ? order by id",
      [""],
      ({ id }) => [id],
    );
    for (const { record } of rows) yield JSON.parse(record) as DocumentRecord;
  }

  saveDocument(record: DocumentRecord): void {
    this.#db.write(
      "insert or replace into document values (?, ?)",
      record.id,
      JSON.stringify(record),
    );
  }

  /** Replaces a document. Chunks with a text that has a vector keep it, so that they are not embedded again. */
  replaceDocument(
    given: PutDocument,
    chunks: readonly DocumentChunk[],
    { space, version, now }: { space: string | null; version: string; now: string },
  ): DocumentRecord {
    const texts = chunks.map(chunkText);
    const known = space === null ? [] : this.index.vectors(space, texts);
    return this.index.change(() => {
      const before = this.document(given.id);
      let embedded = 0;
      for (const [index, chunk] of chunks.entries()) {
        const values = known[index] ?? undefined;
        if (values !== undefined) embedded++;
        this.index.put({
          id: chunkId(given.id, index),
          collection: null,
          run: null,
          from_turn: 0,
          body: { ...chunk, document: given.id, metadata: given.metadata },
          vector: values && storedVector({ space: space ?? "", values }),
        });
      }
      this.#removeChunks(given.id, chunks.length, before?.chunks ?? 0);
      const record: DocumentRecord = {
        ...given,
        version,
        space,
        chunks: chunks.length,
        embedded,
        next: embedded === chunks.length ? chunks.length : 0,
        error: null,
        created_at: before?.created_at ?? now,
        updated_at: now,
      };
      this.saveDocument(record);
      return record;
    });
  }

  deleteDocument({ id, chunks }: DocumentRecord): void {
    this.index.change(() => {
      this.#removeChunks(id, 0, chunks);
      this.#db.write("delete from document where id = ?", id);
    });
  }

  /** Chunks of a document in their order. */
  chunks(document: DocumentRecord, from: number, limit: number): ChunkRow[] {
    const rows: ChunkRow[] = [];
    for (let n = from; n < Math.min(document.chunks, from + limit); n++) {
      const row = this.index.find(chunkId(document.id, n));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  #removeChunks(document: string, from: number, to: number): void {
    for (let n = from; n < to; n++) {
      const row = this.index.find(chunkId(document, n));
      if (row !== undefined) this.index.remove(row.seq);
    }
  }
}

function chunkId(document: string, n: number): string {
  return `${document}/${n}`;
}

/** Whether chunks of a document still wait for their vectors. */
export function isPending({ space, next, chunks, error }: DocumentRecord): boolean {
  return space !== null && next < chunks && error === null;
}

export function documentInfo(record: DocumentRecord): DocumentInfo {
  const { version: _version, space: _space, next: _next, ...shown } = record;
  return { ...shown, status: statusOf(record) };
}

function statusOf(record: DocumentRecord): DocumentInfo["status"] {
  if (record.error !== null) return "failed";
  if (!isPending(record)) return "ready";
  return record.embedded === 0 ? "queued" : "embedding";
}
