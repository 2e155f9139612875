import type { Json } from "../../core/json.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";

/** Single things that are stored by name, as JSON of any size. */
export class MetaStore {
  readonly #db: Database;
  readonly #bodies: Bodies;

  constructor(db: Database, bodies: Bodies) {
    this.#db = db;
    this.#bodies = bodies;
  }

  read(name: string): Json | undefined {
    const row = this.#db.first<{ value: string | null }>(
      "select value from meta where name = ?",
      name,
    );
    return row && (JSON.parse(this.#bodies.load(owner(name), row.value)) as Json);
  }

  write(name: string, value: unknown): void {
    this.#bodies.remove(owner(name));
    this.#db.write(
      "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value",
      name,
      this.#bodies.store(owner(name), JSON.stringify(value)),
    );
  }

  remove(name: string): void {
    this.#bodies.remove(owner(name));
    this.#db.write("delete from meta where name = ?", name);
  }

  /** The rest of all names that begin with `prefix`. */
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
