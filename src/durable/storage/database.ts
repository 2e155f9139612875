/** A value of a SQLite column. */
export type SqlValue = string | number | null | ArrayBuffer;

/** Typed access to an object's SQLite. Query texts are constants: the runtime keeps their prepared statements. */
export class Database {
  readonly #storage: DurableObjectStorage;
  #rowsWritten = 0;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Rows written by this instance, indexes included: what the platform bills. */
  get rowsWritten(): number {
    return this.#rowsWritten;
  }

  all<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    return this.#storage.sql.exec<Row>(query, ...bindings).toArray();
  }

  /** Reads row by row; leave the loop to stop early. */
  each<Row extends Record<string, SqlValue>>(
    query: string,
    ...bindings: SqlValue[]
  ): Iterable<Row> {
    return this.#storage.sql.exec<Row>(query, ...bindings);
  }

  first<Row extends Record<string, SqlValue>>(
    query: string,
    ...bindings: SqlValue[]
  ): Row | undefined {
    return this.all<Row>(query, ...bindings)[0];
  }

  write(query: string, ...bindings: SqlValue[]): void {
    this.#rowsWritten += this.#storage.sql.exec(query, ...bindings).rowsWritten;
  }

  /** All of `changes` or, when it throws, nothing. Must not await. */
  transaction<T>(changes: () => T): T {
    return this.#storage.transactionSync(changes);
  }
}
