import type { Json } from "../../core/json.ts";
import type { TextStore } from "./text-store.ts";
import type { Database } from "./database.ts";

/** Single JSON values of any size, stored by name. */
export class MetaStore {
  readonly #db: Database;
  readonly #texts: TextStore;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
  }

  read(name: string): Json | undefined {
    const row = this.#db.first<{ value: string | null }>(
      "select value from meta where name = ?",
      name,
    );
    return row && (JSON.parse(this.#texts.load(owner(name), row.value)) as Json);
  }

  write(name: string, value: unknown): void {
    this.#texts.remove(owner(name));
    this.#db.write(
      "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value",
      name,
      this.#texts.store(owner(name), JSON.stringify(value)),
    );
  }

  remove(name: string): void {
    this.#texts.remove(owner(name));
    this.#db.write("delete from meta where name = ?", name);
  }

  /** All names that begin with `prefix`, without it. */
  names(prefix: string): string[] {
    return this.#db
      .all<{ name: string }>(
        "select name from meta where substr(name, 1, ?) = ?",
        prefix.length,
        prefix,
      )
      .map(({ name }) => name.slice(prefix.length));
  }
}

function owner(name: string): string {
  return `meta:${name}`;
}
