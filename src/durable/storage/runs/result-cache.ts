import type { StepCache } from "../../../core/run/turn-context.ts";
import type { Database } from "../database.ts";
import { CREATE_CACHE_TABLE, hasTable } from "../schema.ts";

const EVICT = "delete from cache where seq <= (select max(seq) from cache) - ?";

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

  /** Waits for the next statement together with the step whose result it is. */
  set(key: string, value: string, maxEntries: number): void {
    const db = this.#db;
    db.writeLater("cache", CREATE_CACHE_TABLE);
    db.writeLater("cache", "insert or replace into cache (key, value) values (?, ?)", key, value);
    db.writeLater("cache", EVICT, maxEntries);
  }
}
