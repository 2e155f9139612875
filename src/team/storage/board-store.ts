import type { StoredChange } from "../../core/board/board.ts";
import type { TaskChange } from "../../core/board/board-task.ts";
import type { Database } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import type { Idempotency } from "../../contract/common.ts";

/** The requests that a team remembers, so that a repeated one adds nothing. */
const MOST_REQUESTS = 1000;

const ADDED =
  "(seq integer primary key, key text not null unique, hash text not null, task text not null)";

/** Changes of the board by people that no turn has read, and the tasks that their requests have added. */
export class BoardStore {
  readonly #db: Database;
  readonly #changes: LazyTable;
  readonly #added: LazyTable;

  constructor(db: Database) {
    this.#db = db;
    this.#changes = new LazyTable(
      db,
      "board_change",
      "(seq integer primary key autoincrement, change text not null)",
    );
    this.#added = new LazyTable(db, "board_added", ADDED);
  }

  /** In their order. */
  get changes(): StoredChange[] {
    if (!this.#changes.exists) return [];
    return this.#db
      .all<{ seq: number; change: string }>("select seq, change from board_change order by seq")
      .map(({ seq, change }) => ({ seq, change: JSON.parse(change) as TaskChange }));
  }

  add(change: TaskChange): void {
    this.#changes.create();
    this.#db.write("insert into board_change (change) values (?)", JSON.stringify(change));
  }

  /** Removes the changes that a commit has made. Call it in its transaction. */
  removeUpTo(seq: number): void {
    if (seq > 0) this.#db.write("delete from board_change where seq <= ?", seq);
  }

  /** Removes all changes. Call it in the transaction that stores another board, or one that has them. */
  clear(): void {
    if (this.#changes.exists) this.#db.write("delete from board_change");
  }

  /** The task that a request with this key has added. */
  addedBy(key: string): { hash: string; task: string } | undefined {
    if (!this.#added.exists) return undefined;
    return this.#db.first("select hash, task from board_added where key = ?", key);
  }

  remember({ key, hash }: Idempotency, task: string): void {
    this.#added.create();
    this.#db.write("insert into board_added (key, hash, task) values (?, ?, ?)", key, hash, task);
    this.#db.write(
      "delete from board_added where seq <= (select max(seq) from board_added) - ?",
      MOST_REQUESTS,
    );
  }
}
