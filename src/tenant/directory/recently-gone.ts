import type { Database } from "../../sqlite/database.ts";

/** Watchers that reconnect within this time learn which teams were deleted and which questions were closed. */
const REMEMBERED_MS = 7 * 86_400_000;

/** Teams that were deleted recently. */
export class DeletedTeams {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** @param number the number of the entry that reported the deletion */
  add(team: string, number: number, changed: number): void {
    this.#db.write("insert into gone values (?, ?, ?)", changed, team, number);
    this.#db.write("delete from gone where changed < ?", changed - REMEMBERED_MS * 1000);
  }

  /** Whether an entry has already deleted the team after a change. */
  has(team: string, number: number, after: number): boolean {
    const found = this.#db.first(
      "select 1 as found from gone where changed > ? and id = ? and number = ?",
      after,
      team,
      number,
    );
    return found !== undefined;
  }

  since(after: number): { changed: number; id: string }[] {
    return this.#db.all("select changed, id from gone where changed > ?", after);
  }
}

/** Questions that were closed recently. A watcher that reconnects may still show them. */
export class ClosedRequests {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(team: string, id: string, changed: number): void {
    this.#db.write("insert into closed values (?, ?, ?)", changed, team, id);
    this.#db.write("delete from closed where changed < ?", changed - REMEMBERED_MS * 1000);
  }

  since(after: number): { changed: number; team: string; id: string }[] {
    return this.#db.all("select changed, team, id from closed where changed > ?", after);
  }
}
