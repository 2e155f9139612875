/** A value of a SQLite column. */
export type SqlValue = string | number | null | ArrayBuffer;

/** Rows that {@link Database.each} reads at a time: a row has up to 1 MB, and an object 128 MB of memory. */
const MOST_ROWS = 16;

const CHANGES_SCHEMA = /^(?:create|drop|alter) /;

/** A value that is made when it is written. It may write rows of other tables. */
export type LaterValue = SqlValue | (() => SqlValue);

/** A write that waits for the next statement; see {@link Database.writeLater}. */
interface LaterWrite {
  table: string;
  query: string;
  bindings: LaterValue[];
}

/** Thrown to roll back changes that are not kept. */
class Undone extends Error {}

/** Typed access to an object's SQLite. Query texts are constants: the runtime keeps their prepared statements. */
export class Database {
  readonly #storage: DurableObjectStorage;
  #rowsWritten = 0;
  #later: LaterWrite[] = [];
  #flushing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The names of what the schema has; undefined as long as they were not read. */
  #schema: ReadonlySet<string> | undefined;
  readonly #copies: (() => void)[] = [];

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  /** Drops all tables but some. Call it in a transaction. */
  dropTables(kept: readonly string[]): void {
    // Tables of the runtime have names like _cf_KV. A virtual table takes those with it that it is made of.
    for (const virtual of ["CREATE VIRTUAL%", "%"]) {
      const tables = this.all<{ name: string }>(
        "select name from sqlite_master where type = 'table' and sql like ? and name not like '\\_cf%' escape '\\' and name not like 'sqlite%' order by name desc",
        virtual,
      );
      for (const { name } of tables) if (!kept.includes(name)) this.write(`drop table "${name}"`);
    }
  }

  /** Bytes of the database. */
  get size(): number {
    return this.#storage.sql.databaseSize;
  }

  /** True if it has tables, beside one. */
  hasTables(beside = ""): boolean {
    const tables =
      "select 1 as found from sqlite_master where type = 'table' and name not like '\\_cf%' escape '\\' and name not like 'sqlite%' and name <> ? limit 1";
    return this.first(tables, beside) !== undefined;
  }

  hasTable(name: string): boolean {
    if (this.#schema === undefined) {
      const rows = this.all<{ name: string }>("select name from sqlite_master");
      this.#schema = new Set(rows.map((row) => row.name));
    }
    return this.#schema.has(name);
  }

  /** Has copies of rows in memory dropped when {@link forget} is called. */
  onForget(drop: () => void): void {
    this.#copies.push(drop);
  }

  /** Drops what is in memory of the database: after a transaction that failed, and when everything was deleted. */
  forget(): void {
    this.#schema = undefined;
    for (const drop of this.#copies) drop();
  }

  /** Rows written by this instance, indexes included: what the platform bills. */
  get rowsWritten(): number {
    return this.#rowsWritten;
  }

  all<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    this.flush();
    return this.#storage.sql.exec<Row>(query, ...bindings).toArray();
  }

  /**
   * Reads rows in the order of a key, a few at a time; leave the loop to stop early. Between two rows no statement is open: a
   * statement that is not read to its end keeps its tables locked, and they could not be dropped.
   *
   * @param query without a limit; its rows follow the key that is bound
   * @param first bindings of the first rows
   * @param next bindings of the rows after one
   */
  *each<Row extends Record<string, SqlValue>>(
    query: string,
    first: readonly SqlValue[],
    next: (row: Row) => readonly SqlValue[],
  ): Iterable<Row> {
    let bindings = first;
    for (let count = 1; ; count = Math.min(2 * count, MOST_ROWS)) {
      const rows = this.all<Row>(`${query} limit ?`, ...bindings, count);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined || rows.length < count) return;
      bindings = next(last);
    }
  }

  first<Row extends Record<string, SqlValue>>(
    query: string,
    ...bindings: SqlValue[]
  ): Row | undefined {
    return this.all<Row>(query, ...bindings)[0];
  }

  write(query: string, ...bindings: LaterValue[]): void {
    this.flush();
    this.#execute(query, bindings);
  }

  /**
   * Writes before the next statement, or else after the present task of the event loop. What is withdrawn until then is
   * never written. Call {@link flush} before anything leaves the object that must not be known without the write.
   *
   * @param table by which {@link withdraw} finds it
   */
  writeLater(table: string, query: string, ...bindings: LaterValue[]): void {
    this.#later.push({ table, query, bindings });
    this.#timer ??= setTimeout(() => this.#flushInTime(), 0);
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
  flush(): void {
    // The writes of a value come before its row, and not after the rows that still wait.
    if (this.#flushing || this.#later.length === 0) return;
    this.#flushing = true;
    try {
      for (let next = this.#later[0]; next !== undefined; next = this.#later[0]) {
        this.#execute(next.query, next.bindings);
        this.#later.shift();
      }
    } finally {
      this.#flushing = false;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * All of `changes` or, when it throws, nothing; then copies in memory are dropped. Must not await.
   *
   * @param undone called after changes that threw
   */
  transaction<T>(changes: () => T, undone?: () => void): T {
    try {
      this.flush();
      return this.#storage.transactionSync(changes);
    } catch (error) {
      this.forget();
      undone?.();
      throw error;
    }
  }

  /** The result of changes that are not kept. Nothing may copy them. */
  tryOut<T>(changes: () => T): T {
    let result: T | undefined;
    this.flush();
    try {
      this.#storage.transactionSync(() => {
        result = changes();
        throw new Undone();
      });
    } catch (error) {
      if (!(error instanceof Undone)) throw error;
    } finally {
      this.#schema = undefined;
    }
    return result as T;
  }

  #flushInTime(): void {
    this.#timer = undefined;
    try {
      this.flush();
    } catch {
      // It fails again at the next statement, where it can be handled.
    }
  }

  #execute(query: string, bindings: readonly LaterValue[]): void {
    const values = bindings.map((value) => (typeof value === "function" ? value() : value));
    if (CHANGES_SCHEMA.test(query)) this.#schema = undefined;
    this.#rowsWritten += this.#storage.sql.exec(query, ...values).rowsWritten;
  }
}
