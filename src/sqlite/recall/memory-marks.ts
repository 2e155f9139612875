import { hash64 } from "../../core/hash.ts";
import type { Database } from "../database.ts";
import { LazyTable } from "../lazy-table.ts";

/** The erased contents; null stands for everything of the others' choice. */
interface Mark extends Record<string, string | number | null> {
  at: number;
  run: string | null;
  id: string | null;
  /** Hash of the content. */
  content: string | null;
}

/** The subject of a write. */
export interface MarkedWrite {
  id: string;
  run: string | null;
  text: string;
  /** When its turn, extraction or embedding started, epoch milliseconds. */
  started_at: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Marks of this age become one. */
const OLD_MS = 90 * DAY_MS;
/** The marks that a write is compared with; if there are more, those of more than a day become one. */
const MOST_MARKS = 10_000;

/** Marks of what a person has erased or corrected: a write that started before the mark does not bring it back. */
export class MemoryMarks {
  readonly #db: Database;
  readonly #table: LazyTable;
  #marks: Mark[] | undefined;

  constructor(db: Database) {
    this.#db = db;
    const columns = "n integer primary key, at integer not null, run text, id text, content text";
    this.#table = new LazyTable(db, "memory_mark", `(${columns})`);
  }

  /** Everything is erased; earlier marks say nothing more. */
  addForAll(at: number): void {
    if (this.#table.exists) this.#db.write("delete from memory_mark");
    this.#marks = [];
    this.#add({ at, run: null, id: null, content: null });
  }

  addForRun(run: string, at: number): void {
    this.#add({ at, run, id: null, content: null });
  }

  /** @param text the content of the entry */
  addForEntry(id: string, text: string, at: number): void {
    this.#add({ at, run: null, id, content: hash64(text) });
  }

  has({ id, run, text, started_at }: MarkedWrite): boolean {
    const content = hash64(text);
    return this.#all().some((mark) => {
      if (started_at >= mark.at) return false;
      if (mark.run === null && mark.id === null) return true;
      return (mark.run !== null && mark.run === run) || mark.id === id || mark.content === content;
    });
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#marks = undefined;
  }

  #add(mark: Mark): void {
    this.#table.create();
    this.#insert(mark);
    this.#join(mark.at - OLD_MS);
    if (this.#all().length > MOST_MARKS) this.#join(mark.at - DAY_MS);
  }

  /**
   * Makes one mark of those that are not younger, with the time of the last of them: of a write that started before that it is not
   * known any more whether it was erased, so it is dropped.
   */
  #join(until: number): void {
    const old = this.#all().filter(({ at }) => at <= until);
    if (old.length < 2) return;
    this.#db.write("delete from memory_mark where at <= ?", until);
    this.#marks = this.#all().filter(({ at }) => at > until);
    const last = old.reduce((latest, { at }) => Math.max(latest, at), 0);
    this.#insert({ at: last, run: null, id: null, content: null });
  }

  #insert(mark: Mark): void {
    const marks = this.#all();
    const { at, run, id, content } = mark;
    this.#db.write(
      "insert into memory_mark (at, run, id, content) values (?, ?, ?, ?)",
      at,
      run,
      id,
      content,
    );
    marks.push(mark);
  }

  #all(): Mark[] {
    this.#marks ??= this.#table.exists
      ? this.#db.all<Mark>("select at, run, id, content from memory_mark")
      : [];
    return this.#marks;
  }
}
