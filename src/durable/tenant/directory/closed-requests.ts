import type { Database } from "../../storage/database.ts";
import { REMEMBERED_MS } from "./deleted-teams.ts";

/** Questions that were closed lately. Watchers who come back may still show them. */
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
