import type {
  MemoryCorrection,
  MemoryPage,
  MemoryPageQuery,
  MemoryTurn,
  NewMemory,
} from "../../contract/gateways/memory-gateway.ts";
import {
  idempotencyMismatch,
  invalidCursor,
  ok,
  refuse,
  type Refused,
  type Result,
} from "../../contract/result.ts";
import { type MemoryContent, searchText } from "../../core/memory/memory-content.ts";
import type {
  MemoryEntry,
  MemorySource,
  RecallQuery,
  RecallResult,
} from "../../core/memory/memory-host.ts";
import { matchesFilter } from "../../core/memory/metadata-filter.ts";
import type { TextLanguage } from "../../core/search/languages.ts";
import type { Database } from "../database.ts";
import type { TextStore } from "../text-store.ts";
import type { EntryBody, EntryRow } from "./entry-table.ts";
import { MemoryMarks } from "./memory-marks.ts";
import { WaitingEntries } from "./waiting-entries.ts";
import { type IndexQuery, type NewEntry, RecallIndex, storedVector } from "./recall-index.ts";

export interface MemoryBody extends MemoryContent, EntryBody {
  source: MemorySource | null;
  created_at: string;
  /** A person has corrected the content. */
  corrected?: true;
  /** The language of its words, where a memory has one. */
  language?: TextLanguage;
  /** The hash of the request with an idempotency key that has added it. */
  request?: string;
}

export type MemoryRow = EntryRow<MemoryBody>;

/** The table of entries. */
export const MEMORY_TABLE = "memory";

/** The entries of one scope: a team's, a user's or a tenant's. */
export class MemoryEntries {
  readonly index: RecallIndex<MemoryBody>;
  readonly marks: MemoryMarks;
  /** The additions and corrections of people, until they have a vector. */
  readonly waiting: WaitingEntries;
  readonly #keep: (row: MemoryRow) => void;
  /** Called when a search has met entries whose words have to be added again. */
  onOutdated: () => void = () => {};

  /** @param keep called before a turn replaces or removes an entry */
  constructor(db: Database, texts: TextStore, keep: (row: MemoryRow) => void = () => {}) {
    this.index = new RecallIndex(db, texts, MEMORY_TABLE, {
      textOf: ({ content }) => searchText(content),
      languageOf: ({ language = "auto" }) => language,
      onOutdated: () => this.onOutdated(),
    });
    this.marks = new MemoryMarks(db);
    this.waiting = new WaitingEntries(db, MEMORY_TABLE);
    this.#keep = keep;
  }

  /** After a transaction that was rolled back. */
  forget(): void {
    this.index.forget();
    this.marks.forget();
    this.waiting.forget();
  }

  /** @param staged what the turn that asks has written */
  recall(query: RecallQuery & Pick<IndexQuery, "elsewhere">, staged?: MemoryTurn): RecallResult {
    const search = (): RecallResult => {
      const { hits, mode } = this.index.search(query);
      return { hits: hits.map(({ row, ...found }) => ({ ...found, entry: entryOf(row) })), mode };
    };
    if (staged === undefined || staged.changes.length === 0) return search();
    return this.index.after(() => this.#apply(staged, () => {}), search);
  }

  entry(id: string): MemoryEntry | null {
    const row = this.index.find(id);
    return row === undefined ? null : entryOf(row);
  }

  /** Null for unknown ids. @param staged as in {@link recall} */
  withIds(ids: readonly string[], staged?: MemoryTurn): (MemoryEntry | null)[] {
    const read = (): (MemoryEntry | null)[] => ids.map((id) => this.entry(id));
    if (staged === undefined || staged.changes.length === 0) return read();
    return this.index.after(() => this.#apply(staged, () => {}), read);
  }

  /** Makes the changes of a turn, except what was erased after it had started. */
  apply(turn: MemoryTurn): void {
    this.#apply(turn, this.#keep);
  }

  page({ limit, cursor, filter }: MemoryPageQuery): Result<MemoryPage> {
    if (cursor !== undefined && !/^\d{1,15}$/.test(cursor)) return invalidCursor();
    const memories: MemoryEntry[] = [];
    let last: number | undefined;
    for (const row of this.index.before(cursor === undefined ? undefined : Number(cursor))) {
      if (memories.length === limit) return ok({ memories, next_cursor: String(last) });
      if (filter === undefined || matchesFilter(row.body.metadata, filter)) {
        memories.push(entryOf(row));
        last = row.seq;
      }
    }
    return ok({ memories, next_cursor: null });
  }

  /** The rest of the entries that the same request has added before, or the refusal of another with its key. */
  addedBefore(contents: readonly NewMemory[]): Result<MemoryEntry[]> | undefined {
    const rows = contents.flatMap(({ request }) => {
      const row = request && this.index.find(request.id);
      return row === undefined ? [] : [{ row, request }];
    });
    if (rows.length === 0) return undefined;
    const isOther = rows.some(({ row, request }) => row.body.request !== request?.hash);
    return isOther ? idempotencyMismatch() : ok(rows.map(({ row }) => entryOf(row)));
  }

  /** Contents that a person adds. @param fromTurn the team's turn from which they hold */
  add(contents: readonly NewMemory[], at: number, fromTurn = 0): MemoryEntry[] {
    return this.index.change(() =>
      contents.map(({ content, collection = null, embedding, request }) =>
        entryOf(
          this.#putOfPerson({
            id: request?.id ?? crypto.randomUUID(),
            collection,
            run: null,
            from_turn: fromTurn,
            body: {
              ...content,
              source: null,
              created_at: new Date(at).toISOString(),
              ...(request && { request: request.hash }),
            },
            vector: storedVector(embedding),
          }),
        ),
      ),
    );
  }

  /** Stores an entry that a turn or a person has made elsewhere. */
  copy(entry: NewEntry<MemoryBody>): void {
    if (isOfPerson(entry.body)) this.#putOfPerson(entry);
    else this.index.put(entry);
  }

  /** A person's correction. */
  correct(id: string, changes: MemoryCorrection, at: number, fromTurn = 0): Result<MemoryEntry> {
    const before = this.index.find(id);
    if (before === undefined) return memoryNotFound();
    return this.index.change(() => {
      this.#keep(before);
      this.marks.addForEntry(id, searchText(before.body.content), at);
      const { content = before.body.content, metadata = before.body.metadata, embedding } = changes;
      const entry = { ...before, from_turn: fromTurn, body: { ...before.body, content, metadata } };
      if (changes.content === undefined && embedding === undefined) {
        return ok(entryOf(this.index.put({ ...entry, vector: this.index.vectorOf(before.seq) })));
      }
      const body = { ...entry.body, corrected: true as const };
      return ok(entryOf(this.#putOfPerson({ ...entry, body, vector: storedVector(embedding) })));
    });
  }

  /** A person takes back an entry. */
  take(id: string, at: number): Result<null> {
    const row = this.index.find(id);
    if (row === undefined) return memoryNotFound();
    return this.index.change(() => {
      this.marks.addForEntry(id, searchText(row.body.content), at);
      this.index.remove(row.seq);
      return ok(null);
    });
  }

  /** A person takes back what a run has learned. @param restore puts back what an entry has replaced, if anything */
  takeRun(run: string, at: number, restore: (row: MemoryRow) => void = () => {}): number {
    return this.index.change(() => {
      this.marks.addForRun(run, at);
      const rows = this.index.ofRun(run);
      for (const row of rows) {
        this.index.remove(row.seq);
        restore(row);
      }
      return rows.length;
    });
  }

  /** Everything is erased. */
  takeAll(at: number): number {
    const { size } = this.index;
    this.index.change(() => {
      this.marks.addForAll(at);
      this.index.clear();
      this.waiting.clear();
    });
    return size;
  }

  /** Without a vector it waits for one. */
  #putOfPerson(entry: NewEntry<MemoryBody>): MemoryRow {
    const row = this.index.put(entry);
    if (entry.vector === undefined) this.waiting.add(row.seq);
    return row;
  }

  #apply({ changes, source, started_at }: MemoryTurn, keep: (row: MemoryRow) => void): void {
    for (const change of changes) {
      switch (change.op) {
        case "put": {
          const { id, content, collection, message, embedding, language } = change;
          const { run } = source;
          const text = searchText(content.content);
          if (this.marks.has({ id, run, text, started_at })) break;
          const before = this.index.find(id);
          if (before !== undefined) keep(before);
          const { created_at = new Date().toISOString() } = before?.body ?? {};
          this.index.put({
            id,
            collection,
            run,
            from_turn: source.turn,
            body: {
              ...content,
              source: { ...source, message },
              created_at,
              ...(language !== undefined && { language }),
            },
            vector: storedVector(embedding),
          });
          break;
        }
        case "forget": {
          const row = this.index.find(change.id);
          if (row !== undefined) this.#drop(row, keep);
          break;
        }
        case "clear":
          for (const row of this.index.following(0)) {
            const { collection } = change;
            if (collection === null || row.collection === collection) this.#drop(row, keep);
          }
          break;
      }
    }
  }

  #drop(row: MemoryRow, keep: (row: MemoryRow) => void): void {
    keep(row);
    this.index.remove(row.seq);
  }
}

export function entryOf({ id, body }: MemoryRow): MemoryEntry {
  const { corrected: _corrected, language: _language, request: _request, ...entry } = body;
  return { id, ...entry };
}

/** True if a person has written the content. */
export function isOfPerson({ source, corrected }: MemoryBody): boolean {
  return source === null || corrected === true;
}

export function memoryNotFound(): Refused {
  return refuse(404, "memory_not_found", "There is no such memory.");
}
