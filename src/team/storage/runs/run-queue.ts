import type { ChatMessage } from "../../../core/messages/message.ts";
import type { Database } from "../../../sqlite/database.ts";
import type { RunRecord } from "./run-record.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";

/** The place of a queued run: above all started runs. */
const WAITING = Number.MAX_SAFE_INTEGER;

/**
 * The position of a run in the list of all runs, which shows the highest first. `place`: its row in the table `run`;
 * for a run that was cancelled before its start, the row of the run that had started last. `n` orders those of the same
 * place; a started run has 0.
 */
export interface RunPosition {
  place: number;
  n: number;
}

/** A position above all runs. */
export const TOP: RunPosition = { place: WAITING, n: Number.MAX_SAFE_INTEGER };

interface QueueRow extends Record<string, string | number | null> {
  place: number;
  n: number;
  record: string;
}

/**
 * The runs that have no row in the table `run` because they have not started: queued runs, and runs that were cancelled
 * while queued. Queued runs are few and kept in memory, without their tasks.
 */
export class RunQueue {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #table: LazyTable;
  #waiting: { n: number; record: RunRecord }[] | undefined;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    // An older version of the code, without a queue, still finds the started runs.
    const columns =
      "place integer not null, n integer not null, id text not null unique, task text, record text not null";
    this.#table = new LazyTable(db, "queue", `(${columns}, primary key (place, n)) without rowid`);
  }

  get size(): number {
    return this.#all().length;
  }

  /** The run that starts next. */
  get first(): RunRecord | undefined {
    return this.#all()[0]?.record;
  }

  /** From 1 for the run that starts next; null when the run is not queued. */
  position(id: string): number | null {
    const index = this.#all().findIndex(({ record }) => record.id === id);
    return index === -1 ? null : index + 1;
  }

  /** Appends a run to the queue. */
  add(record: RunRecord, task: readonly ChatMessage[] | null): void {
    const waiting = this.#all();
    const n = (waiting.at(-1)?.n ?? 0) + 1;
    this.#table.create();
    this.#db.write(
      "insert into queue values (?, ?, ?, ?, ?)",
      WAITING,
      n,
      record.id,
      this.#texts.storeRemovable(owner(record.id), JSON.stringify(task)),
      JSON.stringify(record),
    );
    waiting.push({ n, record });
  }

  update(record: RunRecord): void {
    this.#db.write("update queue set record = ? where id = ?", JSON.stringify(record), record.id);
    this.#waiting = this.#all().map((one) =>
      one.record.id === record.id ? { ...one, record } : one,
    );
  }

  /** Gives a queued run another task. */
  replaceTask(id: string, task: readonly ChatMessage[] | null): void {
    this.#texts.remove(owner(id));
    const column = this.#texts.storeRemovable(owner(id), JSON.stringify(task));
    this.#db.write("update queue set task = ? where id = ?", column, id);
  }

  /** Removes a run from the queue when it starts. */
  remove(id: string): void {
    this.#db.write("delete from queue where id = ?", id);
    this.#texts.remove(owner(id));
    this.#waiting = this.#all().filter(({ record }) => record.id !== id);
  }

  /** Removes a run from the queue and keeps its record. @param place the row of the run that started last */
  cancel(record: RunRecord, place: number): void {
    this.#db.write(
      `update queue set place = ?, record = ?,
         n = (select coalesce(max(n), 0) + 1 from queue where place = ?) where id = ?`,
      place,
      JSON.stringify(record),
      place,
      record.id,
    );
    this.#waiting = this.#all().filter(({ record: { id } }) => id !== record.id);
  }

  /** A run that is queued or was cancelled while queued. */
  byId(id: string): RunRecord | undefined {
    const waiting = this.#all().find(({ record }) => record.id === id);
    if (waiting) return waiting.record;
    if (!this.#table.exists) return undefined;
    const row = this.#db.first<{ record: string }>("select record from queue where id = ?", id);
    return row && (JSON.parse(row.record) as RunRecord);
  }

  /** Highest first. @param before only runs with a lower position */
  page(before: RunPosition, limit: number): (RunPosition & { record: RunRecord })[] {
    if (!this.#table.exists) return [];
    return this.#db
      .all<QueueRow>(
        `select place, n, record from queue where (place, n) < (?, ?)
           order by place desc, n desc limit ?`,
        before.place,
        before.n,
        limit,
      )
      .map(({ place, n, record }) => ({ place, n, record: JSON.parse(record) as RunRecord }));
  }

  /** JSON of the run's task. */
  task(id: string): string {
    return this.#texts.load(owner(id), this.#taskColumn(id));
  }

  /** Approximate bytes of the run's task. */
  taskSize(id: string): number {
    return this.#texts.size(owner(id), this.#taskColumn(id));
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#waiting = undefined;
  }

  #taskColumn(id: string): string | null {
    const query = "select task from queue where id = ?";
    return this.#db.first<{ task: string | null }>(query, id)?.task ?? null;
  }

  #all(): { n: number; record: RunRecord }[] {
    this.#waiting ??= this.#table.exists
      ? this.#db
          .all<QueueRow>("select place, n, record from queue where place = ? order by n", WAITING)
          .map(({ n, record }) => ({ n, record: JSON.parse(record) as RunRecord }))
      : [];
    return this.#waiting;
  }
}

function owner(id: string): string {
  return `queue:${id}`;
}
