import type { StepCache } from "../../../core/run/turn-context.ts";
import type { Database } from "../database.ts";
import { createCacheTable, hasTable } from "../schema.ts";

/** The team's cache of model results. Evicts by age, not by use: noting a use would write a row per read. */
export class ResultCache implements StepCache {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(key: string): string | undefined {
    if (!hasTable(this.#db, "cache")) return undefined;
    return this.#db.first<{ value: string }>("select value from cache where key = ?", key)?.value;
  }

  /** Writes to the cache without reading it: a call that is repeated after a failure must not get the same answer. */
  renewing(): StepCache {
    return { get: () => undefined, set: (...entry) => this.set(...entry) };
  }

  set(key: string, value: string, maxEntries: number): void {
    createCacheTable(this.#db);
    this.#db.write("insert or replace into cache (key, value) values (?, ?)", key, value);
    this.#db.write("delete from cache where seq <= (select max(seq) from cache) - ?", maxEntries);
  }
}
