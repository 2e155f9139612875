import { ValueError } from "../../core/errors.ts";
import { MOST_DIMENSIONS } from "../../core/memory/embedding-client.ts";
import type { Embedding } from "../../core/memory/memory-host.ts";
import { merged } from "../../core/memory/merge-ranks.ts";
import { type MetadataFilter, matchesFilter } from "../../core/memory/metadata-filter.ts";
import type { TextLanguage } from "../../core/search/languages.ts";
import type { Database } from "../database.ts";
import type { TextStore } from "../text-store.ts";
import type { AwayItem } from "./codes/away-items.ts";
import { CodeIndex } from "./codes/code-index.ts";
import type { SpaceKey } from "./codes/code-space.ts";
import { type EntryBody, type EntryRow, EntryTable, type StoredVector } from "./entry-table.ts";
import type { Estimate } from "./codes/estimates.ts";
import { product, unitVector } from "./codes/vector-code.ts";
import type { WordRanking } from "../word-ranking.ts";
import { WordIndex } from "./word-index.ts";

/** Both rankings are merged down to this place, or to `k`. */
const DEPTH = 50;
/** Entries whose vectors are read at a time. */
const RESCORED_AT_ONCE = 64;
/** An entry is not rescored if its estimate is this many standard deviations below the `k`th of the rescored ones. */
const CERTAIN = 2.5;
/** The most entries that are rescored; a large index adds one for each 40 entries. */
const MOST_RESCORED = 800;
const ENTRIES_PER_RESCORED = 40;
/** The first ten places are exact, even if fewer are asked for. */
const EXACT_PLACES = 10;
/** Entries whose words are added again at a time. */
const RENEWED_AT_ONCE = 200;

export interface IndexQuery {
  text: string;
  embedding?: Embedding | undefined;
  k: number;
  /** Entries of this collection and those without one; null for all. */
  collection: string | null;
  filter?: MetadataFilter | null | undefined;
  /** Entries that are left out, by their ids. */
  hidden?: ((id: string) => boolean) | undefined;
  order?: "best" | "latest" | undefined;
  /** The language of the text. Default: that of any entry. */
  language?: TextLanguage | undefined;
  /** The entries that were found elsewhere, among those whose vectors are searched there. */
  elsewhere?: readonly AwayItem[] | undefined;
}

export interface IndexHit<Body extends EntryBody> {
  row: EntryRow<Body>;
  score: number;
  similarity: number | null;
  words: number | null;
}

export interface IndexResult<Body extends EntryBody> {
  hits: IndexHit<Body>[];
  mode: "hybrid" | "words";
}

/** An entry to be written. */
export interface NewEntry<Body extends EntryBody> extends Omit<EntryRow<Body>, "seq"> {
  vector: StoredVector | undefined;
}

/** The text and language by which words of entries are found. */
export interface IndexedWords<Body extends EntryBody> {
  /** The searched text of an entry. */
  textOf: (body: Body) => string;
  /** The language of an entry's words. Default `auto`. */
  languageOf?: (body: Body) => TextLanguage;
  /** A search has met entries that wait for {@link RecallIndex.renewWords}. */
  onOutdated?: () => void;
}

/**
 * A table of entries that are found by their words and by their vectors. An entry is three written rows: its own with its
 * vector, its words, and the block of codes that it is packed into. Changes are made inside {@link change}.
 */
export class RecallIndex<Body extends EntryBody> {
  readonly #db: Database;
  readonly #entries: EntryTable<Body>;
  readonly #words: WordIndex;
  readonly #codes: CodeIndex;
  readonly name: string;
  readonly #indexed: Required<IndexedWords<Body>>;

  constructor(db: Database, texts: TextStore, name: string, indexed: IndexedWords<Body>) {
    this.#db = db;
    this.name = name;
    this.#indexed = { languageOf: () => "auto", onOutdated: () => {}, ...indexed };
    this.#entries = new EntryTable(db, texts, name);
    this.#words = new WordIndex(db, name);
    this.#codes = new CodeIndex(db, name);
  }

  /** True if its tables were created. */
  get exists(): boolean {
    return this.#words.exists;
  }

  get isEmpty(): boolean {
    return !this.exists || this.#entries.nextSeq === 1;
  }

  get size(): number {
    return this.exists ? this.#codes.size : 0;
  }

  /** Creates the tables; must be called before the transaction that makes the first change. */
  create(): void {
    if (!this.exists) {
      this.#entries.create();
      this.#codes.create();
    }
    this.#words.create();
  }

  /** Makes changes: all of them or, when one throws, none. */
  change<T>(changes: () => T): T {
    this.create();
    try {
      return this.#db.transaction(() => {
        const result = changes();
        this.#codes.store();
        return result;
      });
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  /** The result of `read` after `changes`, which are rolled back. */
  after<T>(changes: () => void, read: () => T): T {
    this.create();
    try {
      return this.#db.tryOut(() => {
        changes();
        return read();
      });
    } finally {
      this.forget();
    }
  }

  /** After a transaction that was rolled back. */
  forget(): void {
    this.#codes.forget();
  }

  find(id: string): EntryRow<Body> | undefined {
    if (!this.exists) return undefined;
    const seqs = this.#codes.candidates(id) ?? this.#entries.scan("id", id);
    return this.#entries.rows(seqs).find((row) => row.id === id);
  }

  /** Entries from before a row id, the latest first. */
  before(seq = Number.MAX_SAFE_INTEGER): Iterable<EntryRow<Body>> {
    return this.exists ? this.#entries.before(seq) : [];
  }

  /** Entries from after a row id, the earliest first. */
  following(seq: number): Iterable<EntryRow<Body>> {
    return this.exists ? this.#entries.after(seq) : [];
  }

  ofRun(run: string): EntryRow<Body>[] {
    return this.exists ? this.#entries.rows(this.#entries.scan("run", run)) : [];
  }

  /** The codes of all entries, known without reading their rows. Changes are made inside {@link change}. */
  get codes(): CodeIndex {
    return this.#codes;
  }

  /** Vectors of a space by row id. */
  vectorsOf(seqs: readonly number[], space: string): Map<number, Float32Array> {
    return this.#entries.vectors(seqs, space);
  }

  vectorOf(seq: number): StoredVector | undefined {
    return this.#entries.vector(seq);
  }

  /** Entries without a vector, from a row id on, the earliest first. */
  bare(from: number, limit: number): EntryRow<Body>[] {
    if (!this.exists) return [];
    const seqs = this.#codes.bare(from).slice(0, limit);
    return this.#entries.rows(seqs).toSorted((a, b) => a.seq - b.seq);
  }

  /** The number of entries with vectors of each kind, the most frequent first. */
  get spaces(): { key: SpaceKey; count: number }[] {
    if (!this.exists) return [];
    const all = [...this.#codes.counts("here"), ...this.#codes.counts("away")];
    return all.toSorted((a, b) => b.count - a.count);
  }

  /** Adds an entry, or replaces the one with this id in its place. */
  put(entry: NewEntry<Body>): EntryRow<Body> {
    const before = this.find(entry.id);
    const { vector, ...columns } = entry;
    const row = { ...columns, seq: before?.seq ?? this.#entries.nextSeq };
    this.#entries.write(row, vector);
    const text = this.#textOf(entry.body);
    const language = this.#indexed.languageOf(entry.body);
    if (before === undefined) {
      this.#words.add(row.seq, text, language);
    } else {
      const isSame =
        this.#textOf(before.body) === text && this.#indexed.languageOf(before.body) === language;
      if (!isSame) this.#words.replace(row.seq, text, language);
      this.#codes.remove(row.seq);
    }
    this.#codes.add(row.seq, {
      id: row.id,
      text,
      group: row.collection,
      vector: vector && { space: vector.space, unit: new Float32Array(vector.bytes) },
    });
    return row;
  }

  /** Gives an entry a vector. */
  embed(row: EntryRow<Body>, embedding: Embedding): void {
    this.put({ ...row, vector: storedVector(embedding) });
  }

  remove(seq: number): void {
    this.#entries.remove(seq);
    this.#words.remove(seq);
    this.#codes.remove(seq);
  }

  /** Removes everything, also the tables' pages of deleted words. */
  clear(): void {
    if (!this.exists) return;
    for (const { seq } of this.#entries.after(0)) this.#entries.remove(seq);
    this.#words.drop();
    this.#codes.clear();
    this.#words.create();
  }

  /** The stored vectors of equal texts. */
  vectors(space: string, texts: readonly string[]): (number[] | null)[] {
    return texts.map((text) => {
      const seq = this.exists ? this.#codes.withText(space, text) : undefined;
      const [row] = seq === undefined ? [] : this.#entries.rows([seq]);
      if (row === undefined || this.#textOf(row.body) !== text) return null;
      const vector = this.#entries.vectors([row.seq], space).get(row.seq);
      return vector === undefined ? null : Array.from(vector);
    });
  }

  search(query: IndexQuery): IndexResult<Body> {
    if (!this.exists) return { hits: [], mode: "words" };
    if (query.order === "latest") return { hits: this.#latest(query), mode: "words" };
    const depth = query.embedding === undefined ? query.k : Math.max(DEPTH, query.k);
    this.create();
    if (this.#words.hasEarlier) this.#indexed.onOutdated();
    const ranking = this.#words.ranking(query.text, this.#codes.size, query.language ?? "auto");
    const words = this.#byWords(ranking, query, depth);
    const similar = this.#bySimilarity(query, depth);
    const best = merged([[...words.keys()], [...(similar?.keys() ?? [])]]).slice(0, query.k);
    const seqs = best.map(([seq]) => seq);
    const rows = new Map(this.#entries.rows(seqs).map((row) => [row.seq, row]));
    const unlike = seqs.filter((seq) => similar?.has(seq) === false);
    const similarities = new Map([...(similar ?? []), ...this.#similarities(unlike, query)]);
    const others = words.size === depth ? seqs.filter((seq) => !words.has(seq)) : [];
    const scores = new Map([...words, ...ranking.scores(others)]);
    const hits = best.flatMap(([seq, score]): IndexHit<Body>[] => {
      const row = rows.get(seq);
      if (row === undefined) return [];
      const similarity = similarities.get(seq) ?? null;
      return [{ row, score, similarity, words: scores.get(seq) ?? null }];
    });
    return { hits, mode: similar === undefined ? "words" : "hybrid" };
  }

  /**
   * Adds the words of some entries again that an earlier version has added, or that were read in another language. Until then they are
   * found as they were.
   *
   * @param language the one that all entries are to have; undefined where each has its own
   * @returns whether others wait
   */
  renewWords(language?: TextLanguage): boolean {
    if (!this.exists) return false;
    this.create();
    const outdated = this.#words.outdated(language);
    const now = outdated.slice(0, RENEWED_AT_ONCE);
    this.change(() => {
      const rows = new Map(this.#entries.rows(now).map((row) => [row.seq, row]));
      for (const seq of now) {
        const row = rows.get(seq);
        if (row === undefined) this.#words.remove(seq);
        else this.#words.replace(seq, this.#textOf(row.body), this.#indexed.languageOf(row.body));
      }
    });
    if (outdated.length > now.length) return true;
    this.#words.dropEarlier();
    return false;
  }

  #textOf(body: Body): string {
    return this.#indexed.textOf(body);
  }

  #latest(query: IndexQuery): IndexHit<Body>[] {
    const hits: IndexHit<Body>[] = [];
    for (const row of this.#entries.before(Number.MAX_SAFE_INTEGER)) {
      if (hits.length === query.k) break;
      if (accepts(query, row)) hits.push({ row, score: 0, similarity: null, words: null });
    }
    return hits;
  }

  #byWords(ranking: WordRanking, query: IndexQuery, depth: number): Map<number, number> {
    const found = new Map<number, number>();
    for (const hits of ranking.hits(depth)) {
      const accepted = this.#accepted(
        query,
        hits.map(({ seq }) => seq),
      );
      for (const { seq, score } of hits) {
        if (accepted.has(seq)) found.set(seq, score);
        if (found.size === depth) return found;
      }
    }
    return found;
  }

  /** The exact similarities of the best entries, best first; undefined if no entry has a vector of the query's space. */
  #bySimilarity(query: IndexQuery, depth: number): Map<number, number> | undefined {
    const { embedding, k, collection } = query;
    const count = embedding?.values.length ?? 0;
    if (count > MOST_DIMENSIONS)
      throw new ValueError(`a vector has ${count} numbers; at most ${MOST_DIMENSIONS} are allowed`);
    const unit = embedding && unitVector(embedding.values);
    if (embedding === undefined || unit === undefined) return undefined;
    const key = { name: embedding.space, dimensions: unit.length };
    const elsewhere = (query.elsewhere ?? []).filter((item) => this.#codes.isAway(key, item));
    const estimates = this.#codes.estimates(embedding.space, unit, collection);
    if (estimates === undefined && elsewhere.length === 0) return undefined;
    const most = Math.max(depth, MOST_RESCORED + this.#codes.size / ENTRIES_PER_RESCORED);
    const places = Math.max(k, EXACT_PLACES);
    let exact: Estimate[] = [];
    const rescore = (seqs: readonly number[]): number => {
      const accepted = this.#accepted(query, seqs);
      const found = this.#similarities([...accepted], query).map(([seq, similarity]) => ({
        seq,
        similarity,
      }));
      exact = [...exact, ...found].toSorted((a, b) => b.similarity - a.similarity).slice(0, depth);
      return accepted.size;
    };
    rescore(elsewhere.map(({ seq }) => seq));
    let rescored = 0;
    const margin = CERTAIN * (estimates?.error ?? 0);
    for (const batch of inBatches(estimates?.sorted() ?? [], RESCORED_AT_ONCE)) {
      const last = exact[places - 1];
      const best = batch[0]?.similarity ?? -1;
      const enough = exact.length >= depth && last !== undefined && best + margin < last.similarity;
      if (enough || rescored >= most) break;
      rescored += rescore(batch.map(({ seq }) => seq));
    }
    return new Map(exact.map(({ seq, similarity }) => [seq, similarity]));
  }

  /** The similarities of entries that have a vector of the query's space. */
  #similarities(seqs: readonly number[], { embedding }: IndexQuery): [number, number][] {
    const unit = embedding && unitVector(embedding.values);
    if (embedding === undefined || unit === undefined || seqs.length === 0) return [];
    return Array.from(this.#entries.vectors(seqs, embedding.space))
      .filter(([, vector]) => vector.length === unit.length)
      .map(([seq, vector]) => [seq, product(vector, unit)]);
  }

  /** Those of the entries that the query asks for. */
  #accepted(query: IndexQuery, seqs: readonly number[]): Set<number> {
    const { filter, collection, hidden } = query;
    if (filter == null && collection === null && hidden === undefined) return new Set(seqs);
    const rows = this.#entries.rows(seqs).filter((row) => accepts(query, row));
    return new Set(rows.map(({ seq }) => seq));
  }
}

/** The vector as it is stored; undefined for one without a direction. @throws ValueError for one that is too long */
export function storedVector(embedding: Embedding | undefined): StoredVector | undefined {
  const unit = embedding && unitVector(embedding.values);
  if (embedding === undefined || unit === undefined) return undefined;
  return { space: embedding.space, bytes: unit.slice().buffer };
}

function accepts<Body extends EntryBody>(
  { collection, filter, hidden }: IndexQuery,
  row: EntryRow<Body>,
): boolean {
  if (hidden?.(row.id) === true) return false;
  if (collection !== null && row.collection !== null && row.collection !== collection) return false;
  return filter == null || matchesFilter(row.body.metadata, filter);
}

function* inBatches<T>(batches: Iterable<T[]>, size: number): Iterable<T[]> {
  for (const batch of batches) {
    for (let from = 0; from < batch.length; from += size) yield batch.slice(from, from + size);
  }
}
