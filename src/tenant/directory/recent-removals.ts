import type { Database } from "../../sqlite/database.ts";

/** Watchers that reconnect within this time learn which teams were deleted and which questions were closed. */
const REMEMBERED_MS = 7 * 86_400_000;

type RemovedRow = { changed: number; id: string; team_user: string | null };

/** Teams that were deleted recently. */
export class DeletedTeams {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  /** @param number the number of the entry that reported the deletion */
  add(team: string, number: number, changed: number, user: string | undefined): void {
    this.#db.write("insert into gone values (?, ?, ?, ?)", changed, team, number, user ?? null);
    this.#db.write("delete from gone where changed < ?", changed - REMEMBERED_MS * 1000);
  }

  /** True if an entry has already deleted the team after a change. */
  has(team: string, number: number, after: number): boolean {
    const found = this.#db.first(
      "select 1 as found from gone where changed > ? and id = ? and number = ?",
      after,
      team,
      number,
    );
    return found !== undefined;
  }

  since(after: number): { changed: number; id: string; team_user?: string }[] {
    return this.#db
      .all<RemovedRow>("select changed, id, team_user from gone where changed > ?", after)
      .map(({ team_user, ...gone }) => ({ ...gone, ...(team_user !== null && { team_user }) }));
  }
}

/** Questions that were closed recently. A watcher that reconnects may still show them. */
export class ClosedRequests {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(team: string, id: string, changed: number, user: string | undefined): void {
    this.#db.write("insert into closed values (?, ?, ?, ?)", changed, team, id, user ?? null);
    this.#db.write("delete from closed where changed < ?", changed - REMEMBERED_MS * 1000);
  }

  since(after: number): { changed: number; team_id: string; id: string; team_user?: string }[] {
    return this.#db
      .all<RemovedRow & { team_id: string }>(
        "select changed, team as team_id, id, team_user from closed where changed > ?",
        after,
      )
      .map(({ team_user, ...closed }) => ({ ...closed, ...(team_user !== null && { team_user }) }));
  }
}
