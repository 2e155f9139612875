import type { ScheduledRun } from "../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../contract/common.ts";
import type { ScheduleInfo } from "../../contract/team/schedule.ts";
import type { Database } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import { SCHEDULE_TABLE } from "./tables/migrations.ts";
import type { TextStore } from "../../sqlite/text-store.ts";

type ScheduleTask = ScheduledRun["task"];

/** A schedule as stored, its task aside. Times are ISO 8601 UTC. */
export interface ScheduleRecord extends Pick<
  ScheduleInfo,
  "id" | "enabled" | "last_at" | "last_run" | "last_error" | "created_at"
> {
  when: When;
  run: Omit<ScheduledRun, "task">;
  /** Idempotency hash of the request that created it. */
  idempotency: Idempotency | null;
}

/** When a schedule has its occurrences. */
export type When = { cron: string; timezone: string } | { at: string };

/** A schedule and the number of its row. */
export interface StoredSchedule {
  seq: number;
  /** The next occurrence, epoch milliseconds; null without one. */
  next_at: number | null;
  record: ScheduleRecord;
}

interface Row extends Record<string, string | number | null> {
  seq: number;
  next_at: number | null;
  record: string;
}

/** The schedules of a team. */
export class ScheduleStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #table: LazyTable;
  #times: Map<string, number> | undefined;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    this.#table = new LazyTable(db, "schedule", SCHEDULE_TABLE);
  }

  /** The next occurrence of each schedule, epoch milliseconds. Kept in memory, because the alarm is set often. */
  get times(): ReadonlyMap<string, number> {
    this.#times ??= new Map(this.#storedTimes());
    return this.#times;
  }

  get count(): number {
    if (!this.#table.exists) return 0;
    return this.#db.first<{ count: number }>("select count(*) as count from schedule")?.count ?? 0;
  }

  insert(record: ScheduleRecord, next_at: number | null, task: ScheduleTask): StoredSchedule {
    this.#table.create();
    const last = this.#db.first<{ seq: number | null }>("select max(seq) as seq from schedule");
    const seq = (last?.seq ?? 0) + 1;
    this.#db.write(
      "insert into schedule values (?, ?, ?, ?, ?)",
      seq,
      record.id,
      next_at,
      JSON.stringify(record),
      this.#texts.storeRemovable(owner(record.id), JSON.stringify(task)),
    );
    this.forget();
    return { seq, next_at, record };
  }

  update({ seq, next_at, record }: StoredSchedule): void {
    const body = JSON.stringify(record);
    this.#db.write("update schedule set next_at = ?, record = ? where seq = ?", next_at, body, seq);
    this.forget();
  }

  updateTask({ seq, record }: StoredSchedule, task: ScheduleTask): void {
    this.#texts.remove(owner(record.id));
    const text = this.#texts.storeRemovable(owner(record.id), JSON.stringify(task));
    this.#db.write("update schedule set task = ? where seq = ?", text, seq);
  }

  remove({ seq, record }: StoredSchedule): void {
    this.#texts.remove(owner(record.id));
    this.#db.write("delete from schedule where seq = ?", seq);
    this.forget();
  }

  task({ seq, record }: StoredSchedule): ScheduleTask {
    return JSON.parse(this.#texts.load(owner(record.id), this.#taskColumn(seq))) as ScheduleTask;
  }

  /** Approximate bytes of its task. */
  taskSize({ seq, record }: StoredSchedule): number {
    return this.#texts.size(owner(record.id), this.#taskColumn(seq));
  }

  byId(id: string): StoredSchedule | undefined {
    if (!this.#table.exists) return undefined;
    const row = this.#db.first<Row>("select seq, next_at, record from schedule where id = ?", id);
    return row && load(row);
  }

  /** The schedule that a request with this idempotency key has created. */
  createdBy(key: string): StoredSchedule | undefined {
    return this.page(Number.MAX_SAFE_INTEGER, this.count).find(
      ({ record }) => record.idempotency?.key === key,
    );
  }

  /** Newest first. @param before only schedules with a smaller row number */
  page(before: number, limit: number): StoredSchedule[] {
    if (!this.#table.exists) return [];
    return this.#db
      .all<Row>(
        "select seq, next_at, record from schedule where seq < ? order by seq desc limit ?",
        before,
        limit,
      )
      .map(load);
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#times = undefined;
  }

  #storedTimes(): [string, number][] {
    if (!this.#table.exists) return [];
    return this.#db
      .all<{ id: string; next_at: number }>(
        "select id, next_at from schedule where next_at is not null order by seq",
      )
      .map(({ id, next_at }) => [id, next_at]);
  }

  #taskColumn(seq: number): string | null {
    const query = "select task from schedule where seq = ?";
    return this.#db.first<{ task: string | null }>(query, seq)?.task ?? null;
  }
}

function owner(id: string): string {
  return `schedule:${id}`;
}

function load({ seq, next_at, record }: Row): StoredSchedule {
  return { seq, next_at, record: JSON.parse(record) as ScheduleRecord };
}
