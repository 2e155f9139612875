import type {
  MemoryCorrection,
  MemoryTurn,
  NewMemory,
} from "../../contract/gateways/memory-gateway.ts";
import type { Result } from "../../contract/result.ts";
import type { MemoryEntry, RecallQuery, RecallResult } from "../../core/memory/memory-host.ts";
import type { Database, SqlValue } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import type { StoredVector } from "../../sqlite/recall/entry-table.ts";
import {
  MEMORY_TABLE,
  type MemoryBody,
  MemoryEntries,
  type MemoryRow,
} from "../../sqlite/recall/memory-entries.ts";
import { WordIndex } from "../../sqlite/recall/word-index.ts";
import type { TextStore } from "../../sqlite/text-store.ts";
import type { AlarmSource, TeamAlarm } from "./team-alarm.ts";

/** An entry that holds no more, with the turn until which it did. */
interface PastRow extends Record<string, SqlValue> {
  n: number;
  id: string;
  collection: string | null;
  run: string | null;
  from_turn: number;
  until_turn: number;
  body: string | null;
  space: string | null;
  vector: ArrayBuffer | null;
}

/** An entry as a fork gets it. Its body is JSON. */
export interface CopiedMemory {
  id: string;
  collection: string | null;
  run: string | null;
  from_turn: number;
  body: string;
  vector: StoredVector | null;
}

/** The position in a copy: first the entries that hold, then those of the past. */
export interface MemoryPlace {
  past: boolean;
  n: number;
}

const PAST = `(
  n integer primary key, id text not null, collection text, run text, from_turn integer not null,
  until_turn integer not null, body text, space text, vector blob
)`;

/**
 * The team's own memories. An entry holds from a turn on. When a turn replaces or forgets one, it is kept in the past
 * with the turn until which it held, so that a fork has exactly what was known at its turn. What a person takes back is
 * gone from the past too.
 */
export class TeamMemory {
  readonly entries: MemoryEntries;
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #past: LazyTable;
  /** The turn that makes a change. */
  #turn = 0;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    this.#past = new LazyTable(db, "memory_past", PAST);
    this.entries = new MemoryEntries(db, texts, (row) => this.#keep(row));
  }

  /** True if anything was ever remembered. */
  get exists(): boolean {
    return this.entries.index.exists;
  }

  /** Called when what people have added can be embedded. */
  onDue: () => void = () => {};

  /** The results for an agent. @param staged the writes of its turn */
  recall(query: RecallQuery, staged: MemoryTurn): RecallResult {
    if (query.embedding !== undefined && this.entries.waiting.used(false)) this.onDue();
    return this.entries.recall(query, staged);
  }

  /** Must be called before the transaction of the first change. */
  create(): void {
    this.entries.index.create();
  }

  /** After a transaction that failed. */
  forget(): void {
    this.entries.forget();
  }

  /** Makes the changes of a turn, with its commit. */
  commit(turn: MemoryTurn): void {
    this.#turn = turn.source.turn;
    this.entries.index.change(() => this.entries.apply(turn));
  }

  /** @param turn the last finished one: what is added holds from then on */
  add(contents: readonly NewMemory[], at: number, turn: number): MemoryEntry[] {
    return this.entries.add(contents, at, turn);
  }

  correct(id: string, changes: MemoryCorrection, at: number, turn: number): Result<MemoryEntry> {
    this.#turn = turn;
    return this.entries.correct(id, changes, at, turn);
  }

  take(id: string, at: number): Result<null> {
    const taken = this.entries.take(id, at);
    if (taken.ok) this.#removePast("id", id);
    return taken;
  }

  /** Removes the entries of a run; those that they have replaced hold again. */
  takeRun(run: string, at: number): number {
    this.#removePast("run", run);
    return this.entries.takeRun(run, at, (row) => this.#restore(row));
  }

  takeAll(at: number): number {
    for (const { n } of this.#all("n > 0", [])) this.#remove(n);
    return this.entries.takeAll(at);
  }

  /** The entries that held at a turn, from a place on. */
  *heldAt(turn: number, { past, n }: MemoryPlace): Iterable<[CopiedMemory, MemoryPlace]> {
    if (!past) {
      for (const row of this.entries.index.following(n)) {
        if (row.from_turn > turn) continue;
        const { seq, body, ...columns } = row;
        const vector = this.entries.index.vectorOf(seq) ?? null;
        yield [
          { ...columns, body: JSON.stringify(body), vector },
          { past, n: seq },
        ];
      }
    }
    if (!this.#past.exists) return;
    for (const row of this.#db.each<PastRow>(
      "select * from memory_past where n > ? and from_turn <= ? and until_turn > ? order by n",
      [past ? n : 0, turn, turn],
      (last) => [last.n, turn, turn],
    )) {
      yield [this.#copied(row), { past: true, n: row.n }];
    }
  }

  /** Stores an entry of the team that is forked. */
  receive({ id, collection, run, from_turn, body, vector }: CopiedMemory): void {
    const entry = { id, collection, run, from_turn, body: JSON.parse(body) as MemoryBody };
    this.entries.index.change(() => this.entries.copy({ ...entry, vector: vector ?? undefined }));
  }

  #keep(row: MemoryRow): void {
    // It never held at the end of a turn.
    if (row.from_turn >= this.#turn) return;
    this.#past.create();
    const { n } = this.#db.first<{ n: number }>(
      "select coalesce(max(n), 0) + 1 as n from memory_past",
    ) ?? { n: 1 };
    const { id, collection, run, from_turn, body, seq } = row;
    const vector = this.entries.index.vectorOf(seq);
    this.#db.write(
      "insert into memory_past values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      n,
      id,
      collection,
      run,
      from_turn,
      this.#turn,
      this.#texts.storeRemovable(pastOwner(n), JSON.stringify(body)),
      vector?.space ?? null,
      vector?.bytes ?? null,
    );
  }

  /** Puts back what an entry had replaced. */
  #restore({ id, from_turn }: MemoryRow): void {
    const [before] = this.#all("id = ? and until_turn = ?", [id, from_turn]);
    if (before === undefined) return;
    this.receive(this.#copied(before));
    this.#remove(before.n);
  }

  #removePast(column: "id" | "run", value: string): void {
    for (const { n } of this.#all(`${column} = ?`, [value])) this.#remove(n);
  }

  #remove(n: number): void {
    this.#texts.remove(pastOwner(n));
    this.#db.write("delete from memory_past where n = ?", n);
  }

  #all(condition: string, bindings: SqlValue[]): PastRow[] {
    if (!this.#past.exists) return [];
    return this.#db.all<PastRow>(`select * from memory_past where ${condition}`, ...bindings);
  }

  #copied({ n, id, collection, run, from_turn, body, space, vector }: PastRow): CopiedMemory {
    return {
      id,
      collection,
      run,
      from_turn,
      body: this.#texts.load(pastOwner(n), body),
      vector: space === null || vector === null ? null : { space, bytes: vector },
    };
  }
}

/** The alarm is set again before work begins, so that a killed object continues. */
const RESUME_MS = 5_000;

/** Adds the words of the team's memories again that an earlier version has added, some at each alarm. A search that meets them begins. */
export class WordRenewal implements AlarmSource {
  readonly #memory: TeamMemory;
  readonly #alarm: TeamAlarm;
  dueAt: number | null = null;

  constructor(memory: TeamMemory, alarm: TeamAlarm) {
    this.#memory = memory;
    this.#alarm = alarm;
    memory.entries.onOutdated = () => this.#wake();
    alarm.serve(this);
  }

  onAlarm(): void {
    if (this.dueAt === null || this.dueAt > Date.now()) return;
    this.dueAt = Date.now() + RESUME_MS;
    try {
      this.dueAt = this.#memory.entries.index.renewWords() ? Date.now() : null;
    } catch {
      // The alarm that is set tries again.
      this.#memory.forget();
    }
    this.#alarm.set(this);
  }

  #wake(): void {
    if (this.dueAt !== null) return;
    this.dueAt = Date.now();
    this.#alarm.set(this);
  }
}

/** Drops the full-text index, whose tables must not be emptied one by one. */
export function dropMemoryWords(db: Database): void {
  new WordIndex(db, MEMORY_TABLE).drop();
}

function pastOwner(n: number): string {
  return `memory_past:${n}`;
}
