import type { StepCache } from "../../core/run/turn-context.ts";
import type { Database } from "./database.ts";
import { createCacheTable, hasTable } from "./schema.ts";

/** Results of the team that could be had again. The last ones are kept: reading one would otherwise write a row. */
export class ResultCache implements StepCache {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(key: string): string | undefined {
    if (!hasTable(this.#db, "cache")) return undefined;
    return this.#db.first<{ value: string }>("select value from cache where key = ?", key)?.value;
  }

  /** The same, and nothing is found in it: what is asked again because it failed must not get the same answer. */
  renewing(): StepCache {
    return { get: () => undefined, set: (...entry) => this.set(...entry) };
  }

  set(key: string, value: string, maxEntries: number): void {
    createCacheTable(this.#db);
    this.#db.write("insert or replace into cache (key, value) values (?, ?)", key, value);
    this.#db.write("delete from cache where seq <= (select max(seq) from cache) - ?", maxEntries);
  }
}
