import { isJsonObject, type Json } from "../../../core/json.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";
import type { Database } from "../../../sqlite/database.ts";

/** The name of a value, and what it is: checked without a library of schemas, because an object reads its values as it starts. */
export interface MetaKey<T> {
  readonly name: string;
  /** @throws TypeError for a value of another kind */
  read(value: Json): T;
}

/** The key of an object that has at least these fields. */
export function objectKey<T extends object>(
  name: string,
  fields: readonly (keyof T & string)[],
): MetaKey<T> {
  return {
    name,
    read(value) {
      if (!isJsonObject(value)) throw new TypeError(`what is stored as ${name} is not an object`);
      const missing = fields.find((field) => !Object.hasOwn(value, field));
      if (missing !== undefined) throw new TypeError(`what is stored as ${name} has no ${missing}`);
      return value as T;
    },
  };
}

/** Single JSON values of any size, stored by name. */
export class MetaStore {
  readonly #db: Database;
  readonly #texts: TextStore;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
  }

  read<T>(key: MetaKey<T>): T | undefined {
    const { name } = key;
    const row = this.#db.first<{ value: string | null }>(
      "select value from meta where name = ?",
      name,
    );
    return row && key.read(JSON.parse(this.#texts.load(owner(name), row.value)) as Json);
  }

  write<T>({ name }: MetaKey<T>, value: NoInfer<T>): void {
    this.#texts.remove(owner(name));
    this.#db.write(
      "insert into meta values (?, ?) on conflict (name) do update set value = excluded.value",
      name,
      this.#texts.storeRemovable(owner(name), JSON.stringify(value)),
    );
  }

  remove({ name }: MetaKey<unknown>): void {
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
