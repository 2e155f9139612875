import { languagesIn, rank } from "../search/rank.ts";
import type { TextLanguage } from "../search/languages.ts";
import { loadStemmers } from "../search/stem.ts";
import { type CountedText, countTokens, queryWords } from "../search/tokens.ts";
import { searchText } from "./memory-content.ts";
import { matchesFilter } from "./metadata-filter.ts";
import { cosine, merged } from "./merge-ranks.ts";
import { markOf } from "./as-data.ts";
import type {
  Embedding,
  MemoryChange,
  MemoryEntry,
  MemoryHost,
  MemoryScope,
  MemorySource,
  MemoryStore,
  Recalled,
  RecallQuery,
  RecallResult,
} from "./memory-host.ts";

/** An entry as the process holds it. */
interface Held {
  entry: MemoryEntry;
  collection: string | null;
  embedding: Embedding | undefined;
  language: TextLanguage | undefined;
}

/** The committed entries of one scope, oldest first. */
type Entries = Map<string, Held>;

/** Memories of teams and agents that run in memory: they last as long as the object that is run. */
const OF_SUBJECTS = new WeakMap<object, Entries>();
const OF_USERS = new Map<string, Entries>();
const OF_TENANT: Entries = new Map();

/** The owners of the memories that a run in memory reads. */
export interface ProcessMemoryOptions {
  /** The agent or team that runs. */
  subject: object;
  user: string | undefined;
  /** The run, in the source of its entries. */
  run: string;
}

let mark: string | undefined;

/** The mark of recalled data in runs in memory: random, and the same as long as the process lasts. */
export function processMark(): string {
  // Workers make nothing random while a module is loaded.
  mark ??= markOf(crypto.randomUUID());
  return mark;
}

/** The memories of a run in memory. What a turn writes is kept when the turn is complete, as in a team's object. */
export class ProcessMemory {
  readonly #options: ProcessMemoryOptions;
  #stores = new Map<MemoryScope, ProcessStore>();

  constructor(options: ProcessMemoryOptions) {
    this.#options = options;
  }

  /** Begins a turn. Changes of a turn before it that were not committed are dropped. */
  turn(number: number): MemoryHost {
    const { run } = this.#options;
    const stores = new Map<MemoryScope, ProcessStore>();
    this.#stores = stores;
    const source = { team: "", run, turn: number };
    return {
      mark: processMark(),
      store: (scope) => {
        const entries = this.#entries(scope);
        if (entries === undefined) return undefined;
        const store = stores.get(scope) ?? new ProcessStore(entries, source);
        stores.set(scope, store);
        return store;
      },
      collection: () => undefined,
    };
  }

  commit(): void {
    for (const store of this.#stores.values()) store.commit();
  }

  #entries(scope: MemoryScope): Entries | undefined {
    const { subject, user } = this.#options;
    switch (scope) {
      case "team":
        return kept(OF_SUBJECTS, subject);
      case "user":
        return user === undefined ? undefined : kept(OF_USERS, user);
      case "tenant":
        return OF_TENANT;
    }
  }
}

function kept<Key>(
  known: { get(key: Key): Entries | undefined; set(key: Key, entries: Entries): unknown },
  key: Key,
): Entries {
  const entries = known.get(key) ?? new Map<string, Held>();
  known.set(key, entries);
  return entries;
}

/** Counting the words of a text takes most of the time of a search. */
const COUNTED = new WeakMap<Held, CountedText>();

/** The entries of a scope as a turn sees them. */
class ProcessStore implements MemoryStore {
  readonly remote = false;
  readonly #committed: Entries;
  readonly #source: Omit<MemorySource, "message">;
  readonly #changes: ((entries: Entries) => void)[] = [];
  #seen: Entries;

  constructor(committed: Entries, source: Omit<MemorySource, "message">) {
    this.#committed = committed;
    this.#seen = committed;
    this.#source = source;
  }

  async recall(query: RecallQuery): Promise<RecallResult> {
    const { embedding, k, collection, filter, order = "best" } = query;
    const candidates = [...this.#seen.values()].filter(
      (held) =>
        (collection === null || held.collection === null || held.collection === collection) &&
        (filter == null || matchesFilter(held.entry.metadata, filter)),
    );
    if (order === "latest") {
      const latest = candidates.toReversed().slice(0, k).map(unscored);
      return { hits: latest, mode: "words" };
    }
    await loadStemmers();
    const words = byWords(candidates, query);
    const vectors = embedding === undefined ? [] : byMeaning(candidates, embedding);
    const hits = merged([words.map(([held]) => held), vectors.map(([held]) => held)])
      .slice(0, k)
      .map(([held, score]) => ({
        entry: held.entry,
        score,
        similarity: new Map(vectors).get(held) ?? null,
        words: new Map(words).get(held) ?? null,
      }));
    return { hits, mode: vectors.length > 0 ? "hybrid" : "words" };
  }

  get(ids: readonly string[]): Promise<(MemoryEntry | null)[]> {
    return Promise.resolve(ids.map((id) => this.#seen.get(id)?.entry ?? null));
  }

  vectors(space: string, texts: readonly string[]): Promise<(readonly number[] | null)[]> {
    const known = new Map<string, readonly number[]>();
    for (const { entry, embedding } of this.#seen.values()) {
      if (embedding?.space === space) known.set(searchText(entry.content), embedding.values);
    }
    return Promise.resolve(texts.map((text) => known.get(text) ?? null));
  }

  write(change: MemoryChange): void {
    if (this.#changes.length === 0) this.#seen = new Map(this.#committed);
    const apply = this.#applied(change);
    this.#changes.push(apply);
    apply(this.#seen);
  }

  commit(): void {
    for (const apply of this.#changes) apply(this.#committed);
    this.#changes.length = 0;
    this.#seen = this.#committed;
  }

  #applied(change: MemoryChange): (entries: Entries) => void {
    switch (change.op) {
      case "put": {
        const { id, content, collection, message, embedding, language } = change;
        const source = { ...this.#source, message };
        const entry = { ...content, id, source, created_at: new Date().toISOString() };
        return (entries) => {
          const { created_at = entry.created_at } = entries.get(id)?.entry ?? {};
          entries.set(id, { entry: { ...entry, created_at }, collection, embedding, language });
        };
      }
      case "forget":
        return (entries) => void entries.delete(change.id);
      case "clear":
        return (entries) => {
          for (const [id, held] of entries) {
            if (change.collection === null || held.collection === change.collection) {
              entries.delete(id);
            }
          }
        };
    }
  }
}

function unscored({ entry }: Held): Recalled {
  return { entry, score: 0, similarity: null, words: null };
}

function byWords(
  candidates: readonly Held[],
  { text, language }: Pick<RecallQuery, "text" | "language">,
): [Held, number][] {
  const counted = candidates.map((held) => {
    const existing = COUNTED.get(held);
    if (existing !== undefined) return existing;
    const by = { tokenizer: "porter", language: held.language } as const;
    const made = countTokens(searchText(held.entry.content), by);
    COUNTED.set(held, made);
    return made;
  });
  const words = queryWords(text, { tokenizer: "porter", language }, languagesIn(counted));
  return rank(counted, words).map(({ index, score }) => [candidates[index] as Held, score]);
}

function byMeaning(candidates: readonly Held[], { space, values }: Embedding): [Held, number][] {
  return candidates
    .flatMap((held): [Held, number][] =>
      held.embedding?.space === space ? [[held, cosine(held.embedding.values, values)]] : [],
    )
    .toSorted(([, a], [, b]) => b - a);
}
