/** A value of a SQLite column. */
export type SqlValue = string | number | null | ArrayBuffer;

/** A write that waits for the next statement; see {@link Database.writeLater}. */
interface LaterWrite {
  table: string;
  query: string;
  bindings: SqlValue[];
}

/** Typed access to an object's SQLite. Query texts are constants: the runtime keeps their prepared statements. */
export class Database {
  readonly #storage: DurableObjectStorage;
  #rowsWritten = 0;
  #later: LaterWrite[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Bytes of the database. */
  get size(): number {
    return this.#storage.sql.databaseSize;
  }

  /** Rows written by this instance, indexes included: what the platform bills. */
  get rowsWritten(): number {
    return this.#rowsWritten;
  }

  all<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    this.settle();
    return this.#storage.sql.exec<Row>(query, ...bindings).toArray();
  }

  /** Reads row by row; leave the loop to stop early. */
  each<Row extends Record<string, SqlValue>>(
    query: string,
    ...bindings: SqlValue[]
  ): Iterable<Row> {
    this.settle();
    return this.#storage.sql.exec<Row>(query, ...bindings);
  }

  first<Row extends Record<string, SqlValue>>(
    query: string,
    ...bindings: SqlValue[]
  ): Row | undefined {
    return this.all<Row>(query, ...bindings)[0];
  }

  write(query: string, ...bindings: SqlValue[]): void {
    this.settle();
    this.#execute(query, bindings);
  }

  /**
   * Writes before the next statement, or else after the present task of the event loop. What is withdrawn until then is
   * never written. Call {@link settle} before anything leaves the object that must not be known without the write.
   *
   * @param table by which {@link withdraw} finds it
   */
  writeLater(table: string, query: string, ...bindings: SqlValue[]): void {
    this.#later.push({ table, query, bindings });
    this.#timer ??= setTimeout(() => this.#settleInTime(), 0);
  }

  /** Takes back the waiting writes to a table. Returns what makes them after all. */
  withdraw(table: string): () => void {
    const withdrawn = this.#later.filter((write) => write.table === table);
    this.#later = this.#later.filter((write) => write.table !== table);
    return () => {
      for (const { query, bindings } of withdrawn) this.write(query, ...bindings);
    };
  }

  /** Makes the waiting writes. */
  settle(): void {
    if (this.#later.length === 0) return;
    for (let next = this.#later[0]; next !== undefined; next = this.#later[0]) {
      this.#execute(next.query, next.bindings);
      this.#later.shift();
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** All of `changes` or, when it throws, nothing. Must not await. */
  transaction<T>(changes: () => T): T {
    this.settle();
    return this.#storage.transactionSync(changes);
  }

  #settleInTime(): void {
    this.#timer = undefined;
    try {
      this.settle();
    } catch {
      // It fails again at the next statement, where it can be handled.
    }
  }

  #execute(query: string, bindings: SqlValue[]): void {
    this.#rowsWritten += this.#storage.sql.exec(query, ...bindings).rowsWritten;
  }
}
