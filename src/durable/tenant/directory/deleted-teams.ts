import type { Database } from "../../storage/database.ts";

/** Watchers who come back learn about teams deleted and questions closed in this time. */
export const REMEMBERED_MS = 7 * 86_400_000;

/** Teams that were deleted lately. */
export class DeletedTeams {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** @param number of the entry that told of it */
  add(team: string, number: number, changed: number): void {
    this.#db.write("insert into gone values (?, ?, ?)", changed, team, number);
    this.#db.write("delete from gone where changed < ?", changed - REMEMBERED_MS * 1000);
  }

  /** Whether this entry has deleted the team already, after a change. */
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
