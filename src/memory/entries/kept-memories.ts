import type {
  MemoryCalls,
  MemoryDelivery,
  MemoryOfTeam,
  MemoryTurn,
} from "../../contract/gateways/memory-gateway.ts";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import type { RecallQuery, RecallResult } from "../../core/memory/memory-host.ts";
import type { Database } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import { MemoryEntries, memoryNotFound } from "../../sqlite/recall/memory-entries.ts";
import { embedQuestion, embedWaiting } from "../../sqlite/recall/place-embedder.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import { TextStore } from "../../sqlite/text-store.ts";
import type { OutsideSearch } from "../vectors/outside-search.ts";
import { UsedEmbeddings, type UsedEmbeddingsHost } from "./used-embeddings.ts";

export interface KeptMemoriesHost {
  db: Database;
  /**
   * Reports to the tenant that the object exists, before it stores more. Refused by a tenant that is being deleted and, for a
   * change that adds contents, over a limit.
   */
  announce: (change: { adds: boolean }) => Promise<Result<null>>;
  /** Why the tenant would refuse an object that stores nothing; undefined if it would not. */
  refusal: () => Promise<Refused | undefined>;
  /** The refusal of further data; undefined while the object is below its limit. */
  refuseStored: () => Refused | undefined;
  /** Searches the vectors outside of the object, if it has too many to search them itself. */
  outside: () => Pick<OutsideSearch, "find">;
  /** Entries were changed. */
  changed: () => void;
  scope: UsedEmbeddingsHost["scope"];
  /** Finds a team of the tenant. */
  team: UsedEmbeddingsHost["team"];
  /** Schedules a call of {@link KeptMemories.embedWaiting}. */
  wake: () => void;
}

/** The memories of a user, or of the tenant, over all teams. */
export class KeptMemories {
  readonly entries: MemoryEntries;
  readonly #db: Database;
  readonly #host: KeptMemoriesHost;
  readonly #embeddings: UsedEmbeddings;
  /** The number of the last delivered entry, by team. */
  readonly #applied: LazyTable;

  constructor(host: KeptMemoriesHost) {
    const { db } = host;
    this.#db = db;
    this.#host = host;
    this.entries = new MemoryEntries(db, new TextStore(db));
    this.#embeddings = new UsedEmbeddings(host);
    const columns = "creation text primary key, number integer not null";
    this.#applied = new LazyTable(db, "memory_applied", `(${columns}) without rowid`);
  }

  /** Makes a change that stores no content, once the tenant knows the object. @param id the entry that has to exist */
  async change<T>(make: MakeChange<T>, id?: string): Promise<Result<T>> {
    return this.#change(make, id, () => this.#open());
  }

  /** As {@link change}, for a change that stores more. */
  async store<T>(make: MakeChange<T>, id?: string): Promise<Result<T>> {
    return this.#change(make, id, async () => this.#host.refuseStored() ?? this.#openTo("store"));
  }

  /** The results for a person: by meaning, too, as for the agents whose embedding is used. */
  async search(query: RecallQuery): Promise<RecallResult> {
    if (query.embedding !== undefined) return this.#recall(query);
    const { embedding, note } = await embedQuestion(this.entries, this.#embeddings, query.text);
    const found = await this.#recall({ ...query, embedding });
    return { ...found, ...(note !== undefined && { note }) };
  }

  /** The results for an agent. @param staged as in {@link read} */
  async recall(query: RecallQuery, staged?: MemoryTurn): Promise<RecallResult> {
    const { embedding, collection } = query;
    if (embedding !== undefined && staged !== undefined && this.entries.index.exists) {
      this.#use([{ space: embedding.space, collection, team: staged.source.team }]);
    }
    return this.#recall(query, staged);
  }

  /** Embeds what people have added. @returns milliseconds until it continues; undefined when nothing is left to do */
  async embedWaiting(): Promise<number | undefined> {
    const delay = await embedWaiting(this.entries, this.#embeddings);
    this.#host.changed();
    return delay;
  }

  /** Erases everything that is known. */
  erase(at: number): number {
    this.#embeddings.clear();
    return this.entries.takeAll(at);
  }

  /** The entries for a query; `full` says why no more may be stored. */
  async #recall(query: RecallQuery, staged?: MemoryTurn): Promise<RecallResult> {
    const { elsewhere, note } = await this.#host.outside().find(query.embedding);
    const found = await this.read(staged, (entries, written) =>
      entries.recall({ ...query, elsewhere }, written),
    );
    const isEmpty = this.entries.index.isEmpty;
    const refused = this.#host.refuseStored() ?? (isEmpty ? await this.#host.refusal() : undefined);
    const full = refused?.problem.detail;
    return {
      ...found,
      ...(full !== undefined && { full }),
      ...(note !== undefined && { note }),
    };
  }

  /** Reads what is stored, and what a turn has written that is not. */
  async read<T>(
    staged: MemoryTurn | undefined,
    read: (entries: MemoryEntries, staged: MemoryTurn | undefined) => T,
  ): Promise<T> {
    if (staged === undefined || staged.changes.length === 0) return read(this.entries, undefined);
    // Staged changes are compared with the tables, which must exist for that.
    const refused = await this.#openTo("learn");
    // The turn's writes may never come: an object that is still empty does not count.
    if (refused === undefined) this.#host.changed();
    return read(this.entries, refused ? undefined : staged);
  }

  /** Applies each entry exactly once. @returns the number of the last one that is applied */
  async deliver({ creation, entries }: MemoryDelivery): Promise<{ number: number }> {
    const last = entries.at(-1)?.number ?? 0;
    // A tenant that is being deleted needs no more memories. One at its limit has refused them before they were written, or this
    // user is one more than it may have: another attempt would fail as well.
    if ((await this.#openTo("learn")) !== undefined) return { number: last };
    this.#applied.create();
    this.#make(() =>
      this.entries.index.change(() => {
        const query = "select number from memory_applied where creation = ?";
        const before = this.#db.first<{ number: number }>(query, creation)?.number ?? 0;
        if (last <= before) return;
        for (const entry of entries) if (entry.number > before) this.entries.apply(entry);
        const stored = new Set(this.entries.index.spaces.map(({ key }) => key.name));
        this.#use(entries.flatMap(usesOf).filter(({ space }) => stored.has(space)));
        this.#db.write("insert or replace into memory_applied values (?, ?)", creation, last);
      }),
    );
    return { number: last };
  }

  /** Everything was erased, or a transaction has failed. */
  forget(): void {
    this.entries.forget();
    this.#embeddings.forget();
  }

  /** Agents compare meanings here. */
  #use(uses: Iterable<Parameters<UsedEmbeddings["add"]>[0]>): void {
    let isNew = false;
    for (const use of uses) isNew = this.#embeddings.add(use) || isNew;
    if (this.entries.waiting.used(isNew)) this.#host.wake();
  }

  /** A failed transaction may leave wrong copies of rows in memory: they are forgotten. */
  #make<T>(changes: () => T): T {
    try {
      const made = changes();
      this.#host.changed();
      if (this.entries.waiting.isDue) this.#host.wake();
      return made;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  async #change<T>(
    make: MakeChange<T>,
    id: string | undefined,
    open: () => Promise<Refused | undefined>,
  ): Promise<Result<T>> {
    if (id !== undefined && this.entries.entry(id) === null) return memoryNotFound();
    const refused = await open();
    if (refused !== undefined) return refused;
    return this.#make(() => make(this.entries, Date.now()));
  }

  /** Creates the tables, for what is not to come back: it is noted of a user of whom nothing is remembered, too. */
  async #open(): Promise<Refused | undefined> {
    return this.entries.index.exists ? undefined : this.#announce({ adds: false });
  }

  /** Creates the tables for contents. The tenant counts an object that has some. */
  async #openTo(purpose: "store" | "learn"): Promise<Refused | undefined> {
    const isKnown = purpose === "learn" && !this.entries.index.isEmpty;
    return isKnown ? undefined : this.#announce({ adds: true });
  }

  async #announce(change: { adds: boolean }): Promise<Refused | undefined> {
    const announced = await this.#host.announce(change);
    if (!announced.ok) return announced;
    this.entries.index.create();
    return undefined;
  }
}

type MakeChange<T> = (entries: MemoryEntries, at: number) => Result<T>;

/** The embeddings of what a turn has stored. */
function usesOf({ changes, source }: MemoryTurn): Parameters<UsedEmbeddings["add"]>[0][] {
  return changes.flatMap((change) =>
    change.op === "put" && change.embedding !== undefined
      ? [{ space: change.embedding.space, collection: change.collection, team: source.team }]
      : [],
  );
}

/** The methods of an object that holds memories. */
export type KeptMemoriesMethods = MemoryCalls & MemoryOfTeam;

export const memoryHandlers: Handlers<KeptMemoriesMethods, { memories: KeptMemories }> = {
  memories: ({ memories }, query) => memories.entries.page(query),

  searchMemories: async ({ memories }, query) => ok(await memories.search(query)),

  memory({ memories }, id) {
    const entry = memories.entries.entry(id);
    return entry === null ? memoryNotFound() : ok(entry);
  },

  addMemories: ({ memories }, contents) =>
    memories.entries.addedBefore(contents) ??
    memories.store((entries, at) => ok(entries.add(contents, at))),

  changeMemory: ({ memories }, id, changes) =>
    memories.store((entries, at) => entries.correct(id, changes, at), id),

  forgetMemory: ({ memories }, id) => memories.change((entries, at) => entries.take(id, at), id),

  forgetRun: ({ memories }, run) =>
    memories.change((entries, at) => ok({ forgotten: entries.takeRun(run, at) })),

  eraseMemories: ({ memories }) =>
    memories.change((_, at) => ok({ forgotten: memories.erase(at) })),

  deliverMemories: ({ memories }, delivery) => memories.deliver(delivery),

  recallMemories: ({ memories }, query, staged) => memories.recall(query, staged),

  memoriesWith: ({ memories }, ids, staged) =>
    memories.read(staged, (entries, written) => entries.withIds(ids, written)),

  memoryVectors: ({ memories }, space, texts) => memories.entries.index.vectors(space, texts),
};
