import { ok, type Result } from "../../contract/result.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";

/** The names of the tenant's objects of class `MemoryObject`, without the tenant. */
export class MemoryNames {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  add(name: string): void {
    const known = this.#db.first("select 1 as found from memory where name = ?", name);
    if (known === undefined) this.#db.write("insert into memory values (?)", name);
  }

  remove(name: string): void {
    this.#db.write("delete from memory where name = ?", name);
  }

  some(limit: number): string[] {
    return this.#after("", limit);
  }

  /** Those that begin with `prefix`. */
  page({
    prefix,
    limit,
    cursor,
  }: {
    prefix: string;
    limit: number;
    cursor?: string;
  }): Result<{ names: string[]; next_cursor: string | null }> {
    const position = cursor === undefined ? [prefix] : fromCursor(cursor, ["string"]);
    if (position === undefined) return invalidCursor();
    const found = this.#after(String(position[0]), limit + 1).filter((name) =>
      name.startsWith(prefix),
    );
    const names = found.slice(0, limit);
    const last = names.at(-1);
    const next_cursor = found.length > limit && last !== undefined ? toCursor(last) : null;
    return ok({ names, next_cursor });
  }

  #after(name: string, limit: number): string[] {
    return this.#db
      .all<{ name: string }>(
        "select name from memory where name > ? order by name limit ?",
        name,
        limit,
      )
      .map((row) => row.name);
  }
}
