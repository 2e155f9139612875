import type { ChatMessage } from "../../../core/messages/message.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";
import type { Database } from "../../../sqlite/database.ts";
import type { RunPosition, RunQueue } from "./run-queue.ts";
import type { RunRecord, StoredRun } from "./run-record.ts";

interface RunRow extends Record<string, string | number | null> {
  seq: number;
  record: string;
}

/** The runs of a team: started runs in the order of their start, and queued runs. */
export class RunStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #queue: RunQueue;
  /** The row of the run that started last, 0 before the first; undefined as long as it was not read. */
  #lastSeq: number | undefined;

  constructor(db: Database, texts: TextStore, queue: RunQueue) {
    this.#db = db;
    this.#texts = texts;
    this.#queue = queue;
  }

  /** Inserts a run that starts. */
  insert(record: RunRecord, task: readonly ChatMessage[] | null): StoredRun {
    this.#lastSeq ??=
      this.#db.first<{ seq: number | null }>("select max(seq) as seq from run")?.seq ?? 0;
    const seq = ++this.#lastSeq;
    this.#db.write(
      "insert into run (seq, id, task, record) values (?, ?, ?, ?)",
      seq,
      record.id,
      this.#texts.store(`run:${seq}`, JSON.stringify(task)),
      JSON.stringify(record),
    );
    return { seq, record };
  }

  update({ seq, record }: StoredRun): void {
    if (seq === 0) return this.#queue.update(record);
    this.#db.write("update run set record = ? where seq = ?", JSON.stringify(record), seq);
  }

  /** Stores the outcome of a run, with the steps of a turn that was given up. */
  end({ seq, record }: StoredRun, steps: string | undefined): void {
    const column = steps === undefined ? null : this.#texts.store(stepsOwner(seq), steps);
    const values = [JSON.stringify(record), column ?? (steps === undefined ? null : "")];
    this.#db.write("update run set record = ?, steps = ? where seq = ?", ...values, seq);
  }

  /** The steps of the turn in which it was given up. */
  steps(seq: number): string | undefined {
    const query = "select steps from run where seq = ?";
    const column = this.#db.first<{ steps: string | null }>(query, seq)?.steps ?? null;
    return column === null ? undefined : this.#texts.load(stepsOwner(seq), column || null);
  }

  task({ seq, record: { id } }: StoredRun): ChatMessage[] | null {
    const text =
      seq === 0 ? this.#queue.task(id) : this.#texts.load(`run:${seq}`, this.#taskColumn(seq));
    return JSON.parse(text) as ChatMessage[] | null;
  }

  /** Approximate bytes of a run's task. */
  taskSize({ seq, record: { id } }: StoredRun): number {
    if (seq === 0) return this.#queue.taskSize(id);
    return this.#texts.size(`run:${seq}`, this.#taskColumn(seq));
  }

  /** The run that started last. Only this run can be active. */
  last(): StoredRun | undefined {
    return load(this.#db.first<RunRow>("select seq, record from run order by seq desc limit 1"));
  }

  /** True if the team's last committed turn up to this one belongs to a cancelled run. */
  wasCancelledAt(turn: number): boolean {
    for (const row of this.#db.each<RunRow>(
      "select seq, record from run where seq < ? order by seq desc",
      [Number.MAX_SAFE_INTEGER],
      ({ seq }) => [seq],
    )) {
      const run = JSON.parse(row.record) as RunRecord;
      if (run.turn < turn) return false;
      if (run.turn === turn && run.status === "cancelled") return true;
    }
    return false;
  }

  /** A run that has started, by its row. */
  bySeq(seq: number): StoredRun | undefined {
    return load(this.#db.first<RunRow>("select seq, record from run where seq = ?", seq));
  }

  byId(id: string): StoredRun | undefined {
    const started = this.#db.first<RunRow>("select seq, record from run where id = ?", id);
    if (started) return load(started);
    const record = this.#queue.byId(id);
    return record && { seq: 0, record };
  }

  /** Newest first: the queue, then by start. @param before only runs with a lower position */
  page(before: RunPosition, limit: number): (RunPosition & StoredRun)[] {
    const started = this.#db
      .all<RunRow>(
        "select seq, record from run where seq < ? order by seq desc limit ?",
        // A run cancelled before its start stands above the run whose place it has.
        before.n > 0 ? before.place + 1 : before.place,
        limit,
      )
      .map(({ seq, record }) => ({
        place: seq,
        n: 0,
        seq,
        record: JSON.parse(record) as RunRecord,
      }));
    const queue = this.#queue.page(before, limit).map((run) => ({ ...run, seq: 0 }));
    return [...started, ...queue]
      .toSorted((a, b) => b.place - a.place || b.n - a.n)
      .slice(0, limit);
  }

  /** Drops the copy in memory after a failed transaction. */
  forget(): void {
    this.#lastSeq = undefined;
  }

  #taskColumn(seq: number): string | null {
    const query = "select task from run where seq = ?";
    return this.#db.first<{ task: string | null }>(query, seq)?.task ?? null;
  }
}

function stepsOwner(seq: number): string {
  return `steps:run:${seq}`;
}

/** True if the run has an outcome. */
export function isOver({ status }: RunRecord): boolean {
  return status === "completed" || status === "cancelled" || status === "failed";
}

/** Prefix of the ids and step keys of a run's turn. */
export function turnId(record: RunRecord, turn: number): string {
  return turn === record.first_turn ? record.first_turn_id : `${record.id}/${turn}`;
}

/** The hop count of a run that a request of this run starts. */
export function hopsAfter({ hops = 0 }: Pick<RunRecord, "hops">): number {
  return hops + 1;
}

function load(row: RunRow | undefined): StoredRun | undefined {
  return row && { seq: row.seq, record: JSON.parse(row.record) as RunRecord };
}
