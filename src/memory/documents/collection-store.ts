import type { ComponentModel } from "../../core/component/component-model.ts";
import type { JsonObject } from "../../core/json.ts";
import type { TextLanguage } from "../../core/search/languages.ts";
import type { DocumentInfo } from "../../contract/files/collection.ts";
import type { DocumentChunk, PutDocument } from "../../contract/gateways/memory-gateway.ts";
import type { Database } from "../../sqlite/database.ts";
import { type EntryBody, type EntryRow } from "../../sqlite/recall/entry-table.ts";
import { RecallIndex, storedVector } from "../../sqlite/recall/recall-index.ts";
import { TextStore } from "../../sqlite/text-store.ts";
import { AbandonedChunks, chunkId } from "./abandoned-chunks.ts";

/** The stored data of the collection itself. */
export interface CollectionRecord {
  description: string | null;
  /** With sealed secrets. */
  embedding: ComponentModel | null;
  /** Names the vectors of the embedding; null without one. */
  space: string | null;
  /** The language of its documents; absent in records of earlier versions, as `auto`. */
  language?: TextLanguage;
  /** Numbers of the first vector of this space; null before. */
  dimensions: number | null;
  /** Attempts to embed that have failed in a row, and when the first of them did, epoch milliseconds. */
  failures: number;
  failing_since: number;
  embedding_tokens: number;
  /** True while documents wait for the SECRETS_KEY that the embedding's secrets were stored with. */
  locked?: boolean;
  created_at: string;
  updated_at: string;
}

/** The stored data of a document besides its chunks. */
export interface DocumentRecord extends PutDocument {
  /** Begins the ids of its chunks. Absent in records of earlier versions, as the document's id. */
  series?: string;
  /** Differs for everything that was ever put. */
  version: string;
  /** The space of its vectors; null if it is not to be embedded. */
  space: string | null;
  chunks: number;
  embedded: number;
  /** Chunks before this one need no vector any more. */
  next: number;
  error: string | null;
  /** True if it is embedded by itself once the cause of the error is gone. Absent in records of earlier versions. */
  waits?: boolean;
  created_at: string;
  updated_at: string;
}

/** A chunk in the index. Its metadata are those of its document. */
export interface ChunkBody extends EntryBody, DocumentChunk {
  document: string;
  metadata: JsonObject;
}

export type ChunkRow = EntryRow<ChunkBody>;

/** Writes the chunks of a document, a few in each transaction. */
export interface DocumentWriter {
  add(chunks: readonly DocumentChunk[]): void;
  /** Writes the last chunks, and shows the document in the place of the one before. */
  finish(chunks: readonly DocumentChunk[]): DocumentRecord;
  /** Nothing more comes: what was added is removed unless the document was finished. */
  leave(): void;
}

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
  readonly abandoned: AbandonedChunks;
  readonly #db: Database;
  #record: CollectionRecord | undefined;

  /**
   * @param onOutdated a search has met chunks whose words have to be added again
   * @param onAbandoned chunks wait for {@link AbandonedChunks.sweep}
   */
  constructor(db: Database, onOutdated: () => void, onAbandoned: () => void) {
    this.#db = db;
    this.index = new RecallIndex<ChunkBody>(db, new TextStore(db), "chunk", {
      textOf: chunkText,
      languageOf: () => this.#record?.language ?? "auto",
      onOutdated,
    });
    this.abandoned = new AbandonedChunks(db, this.index, onAbandoned);
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

  /** Begins to replace a document, which others see as it was until the new one is complete. */
  write(given: PutDocument, version: string): DocumentWriter {
    const series = `${given.id}/${version}`;
    const { space } = this.#record ?? { space: null };
    const counts = { chunks: 0, embedded: 0 };
    const put = (chunks: readonly DocumentChunk[]): void => {
      counts.chunks += chunks.length;
      counts.embedded += this.#putChunks(given, series, { space, chunks });
    };
    return {
      add: (chunks) =>
        this.index.change(() => {
          this.abandoned.begin(series);
          put(chunks);
        }),
      finish: (chunks) =>
        this.index.change(() => {
          put(chunks);
          const before = this.document(given.id);
          if (before !== undefined) this.#abandon(before);
          this.abandoned.end(series);
          const current = this.#record?.space ?? null;
          const embedded = current === space ? counts.embedded : 0;
          const now = new Date().toISOString();
          const record: DocumentRecord = {
            ...given,
            series,
            version,
            space: current,
            chunks: counts.chunks,
            embedded,
            next: embedded === counts.chunks ? counts.chunks : 0,
            error: null,
            created_at: before?.created_at ?? now,
            updated_at: now,
          };
          this.saveDocument(record);
          return record;
        }),
      leave: () => this.abandoned.leave(series),
    };
  }

  deleteDocument(document: DocumentRecord): void {
    this.index.change(() => {
      this.#abandon(document);
      this.#db.write("delete from document where id = ?", document.id);
    });
  }

  /** Chunks of a document in their order. */
  chunks(document: DocumentRecord, from: number, limit: number): ChunkRow[] {
    const rows: ChunkRow[] = [];
    for (let n = from; n < Math.min(document.chunks, from + limit); n++) {
      const row = this.index.find(chunkId(seriesOf(document), n));
      if (row !== undefined) rows.push(row);
    }
    return rows;
  }

  /** Chunks with a text that has a vector keep it, so that they are not embedded again. @returns how many have one */
  #putChunks(
    { id, metadata }: PutDocument,
    series: string,
    { space, chunks }: { space: string | null; chunks: readonly DocumentChunk[] },
  ): number {
    const vectors = space === null ? [] : this.index.vectors(space, chunks.map(chunkText));
    for (const [index, chunk] of chunks.entries()) {
      const values = vectors[index] ?? undefined;
      this.index.put({
        id: chunkId(series, chunk.chunk),
        collection: null,
        run: null,
        from_turn: 0,
        body: { ...chunk, document: id, metadata },
        vector: values && storedVector({ space: space ?? "", values }),
      });
    }
    return vectors.filter((values) => values !== null).length;
  }

  #abandon(document: DocumentRecord): void {
    this.abandoned.add(seriesOf(document), document.chunks);
  }
}

function seriesOf({ id, series }: DocumentRecord): string {
  return series ?? id;
}

/** True if chunks of a document still wait for their vectors. */
export function isPending({ space, next, chunks, error, waits }: DocumentRecord): boolean {
  return space !== null && next < chunks && (error === null || waits === true);
}

export function documentInfo(record: DocumentRecord): DocumentInfo {
  const {
    version: _version,
    space: _space,
    next: _next,
    series: _series,
    waits: _waits,
    ...shown
  } = record;
  return { ...shown, status: statusOf(record) };
}

function statusOf(record: DocumentRecord): DocumentInfo["status"] {
  if (record.error !== null) return "failed";
  if (!isPending(record)) return "ready";
  return record.embedded === 0 ? "queued" : "embedding";
}
