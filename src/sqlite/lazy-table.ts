import type { Database } from "./database.ts";

/** A table that most teams never need: it is created with its first row, because each table makes a new team dearer. */
export class LazyTable {
  readonly #db: Database;
  readonly #name: string;
  readonly #statement: string;

  /** @param definition what follows the table's name in the statement that creates it */
  constructor(db: Database, name: string, definition: string) {
    this.#db = db;
    this.#name = name;
    this.#statement = `create table if not exists ${name} ${definition}`;
  }

  get exists(): boolean {
    return this.#db.hasTable(this.#name);
  }

  /** Call it inside the transaction that writes the first row. */
  create(): void {
    if (!this.exists) this.#db.write(this.#statement);
  }
}
