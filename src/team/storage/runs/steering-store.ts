import type { TextMessage } from "../../../core/messages/chat-messages.ts";
import type { Database } from "../../../sqlite/database.ts";
import { LazyTable } from "../../../sqlite/lazy-table.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";

/** `event`: null as long as the run is queued, because the log has no place for it yet. */
const COLUMNS =
  "(n integer primary key, run text not null, id text not null, event integer, body text)";

/** A message that was sent into a run and is not part of the team's state yet. */
export interface SentIn {
  n: number;
  run: string;
  id: string;
  event: number | null;
  message: TextMessage;
}

interface SteeringRow extends Record<string, string | number | null> {
  n: number;
  run: string;
  id: string;
  event: number | null;
  body: string | null;
}

/** The messages into runs, in their order, until a commit has them in the team's state. Few, and kept in memory. */
export class SteeringStore {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #table: LazyTable;
  #rows: readonly SentIn[] | undefined;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    this.#table = new LazyTable(db, "steering", COLUMNS);
  }

  get all(): readonly SentIn[] {
    this.#rows ??= this.#table.exists
      ? this.#db.all<SteeringRow>("select * from steering order by n").map((row) => ({
          ...row,
          message: JSON.parse(this.#texts.load(owner(row.n), row.body)) as TextMessage,
        }))
      : [];
    return this.#rows;
  }

  /** True for a message that no turn retracts, because a person has sent it. */
  has(id: string): boolean {
    return this.all.some((one) => one.id === id);
  }

  /** Inside a transaction. */
  add(sent: Omit<SentIn, "n">): void {
    const n = (this.all.at(-1)?.n ?? 0) + 1;
    this.#table.create();
    const { run, id, event, message } = sent;
    const body = this.#texts.storeRemovable(owner(n), JSON.stringify(message));
    this.#db.write("insert into steering values (?, ?, ?, ?, ?)", n, run, id, event, body);
    this.#rows = [...this.all, { ...sent, n }];
  }

  /** Its message is in the log now. */
  logged({ n }: SentIn, event: number): void {
    this.#db.write("update steering set event = ? where n = ?", event, n);
    this.#rows = this.all.map((one) => (one.n === n ? { ...one, event } : one));
  }

  /** The team's state has them. Inside the transaction that stores it. */
  remove(removed: readonly SentIn[]): void {
    if (removed.length === 0) return;
    for (const { n } of removed) {
      this.#db.write("delete from steering where n = ?", n);
      this.#texts.remove(owner(n));
    }
    const gone = new Set(removed.map(({ n }) => n));
    this.#rows = this.all.filter(({ n }) => !gone.has(n));
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#rows = undefined;
  }
}

function owner(n: number): string {
  return `steering:${n}`;
}
