import type { JsonObject } from "../../core/json.ts";
import type { Database, SqlValue } from "../database.ts";
import type { TextStore } from "../text-store.ts";

/** The stored parts of an entry besides its columns. Filters compare its metadata. */
export interface EntryBody {
  metadata: JsonObject | null;
}

export interface EntryRow<Body extends EntryBody> {
  seq: number;
  id: string;
  /** Null for an entry of all collections. */
  collection: string | null;
  /** The run that it comes from. */
  run: string | null;
  /** The team's turn from which it holds; 0 outside of teams. */
  from_turn: number;
  body: Body;
}

/** The stored vector of an entry: the name of its embedding and 32-bit numbers of length 1. */
export interface StoredVector {
  space: string;
  bytes: ArrayBuffer;
}

interface StoredRow extends Record<string, SqlValue> {
  seq: number;
  id: string;
  collection: string | null;
  run: string | null;
  from_turn: number;
  body: string | null;
}

const COLUMNS = "seq, id, collection, run, from_turn, body";

/** The rows of entries. No index but the row id, because each costs another written row: ids are found by the codes. */
export class EntryTable<Body extends EntryBody> {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly #name: string;

  constructor(db: Database, texts: TextStore, name: string) {
    this.#db = db;
    this.#texts = texts;
    this.#name = name;
  }

  create(): void {
    // The vector comes last: reading the other columns skips it.
    this.#db.write(
      `create table if not exists ${this.#name} (
         seq integer primary key, id text not null, collection text, run text, from_turn integer not null, body text,
         space text, vector blob
       )`,
    );
  }

  get nextSeq(): number {
    const row = this.#db.first<{ last: number | null }>(
      `select max(seq) as last from ${this.#name}`,
    );
    return (row?.last ?? 0) + 1;
  }

  /** In no order; unknown ones are missing. */
  rows(seqs: readonly number[]): EntryRow<Body>[] {
    return this.#db
      .all<StoredRow>(
        `select ${COLUMNS} from ${this.#name} where seq in (select value from json_each(?))`,
        JSON.stringify(seqs),
      )
      .map((row) => this.#read(row));
  }

  /** Entries from before a row id, the latest first. */
  *before(seq: number): Iterable<EntryRow<Body>> {
    for (const row of this.#db.each<StoredRow>(
      `select ${COLUMNS} from ${this.#name} where seq < ? order by seq desc`,
      [seq],
      (last) => [last.seq],
    )) {
      yield this.#read(row);
    }
  }

  /** Entries from after a row id, the earliest first. */
  *after(seq: number): Iterable<EntryRow<Body>> {
    for (const row of this.#db.each<StoredRow>(
      `select ${COLUMNS} from ${this.#name} where seq > ? order by seq`,
      [seq],
      (last) => [last.seq],
    )) {
      yield this.#read(row);
    }
  }

  /** Reads all rows. */
  scan(column: "id" | "run", value: string): number[] {
    return this.#db
      .all<{ seq: number }>(`select seq from ${this.#name} where ${column} = ?`, value)
      .map(({ seq }) => seq);
  }

  /** Vectors of a space by row id. */
  vectors(seqs: readonly number[], space: string): Map<number, Float32Array> {
    const rows = this.#db.all<{ seq: number; vector: ArrayBuffer }>(
      `select seq, vector from ${this.#name} where seq in (select value from json_each(?)) and space = ?`,
      JSON.stringify(seqs),
      space,
    );
    return new Map(rows.map(({ seq, vector }) => [seq, new Float32Array(vector)]));
  }

  vector(seq: number): StoredVector | undefined {
    const row = this.#db.first<{ space: string | null; vector: ArrayBuffer | null }>(
      `select space, vector from ${this.#name} where seq = ?`,
      seq,
    );
    if (row === undefined || row.space === null || row.vector === null) return undefined;
    return { space: row.space, bytes: row.vector };
  }

  write(
    { seq, id, collection, run, from_turn, body }: EntryRow<Body>,
    vector: StoredVector | undefined,
  ): void {
    this.#texts.remove(this.#owner(seq));
    this.#db.write(
      `insert or replace into ${this.#name} (${COLUMNS}, space, vector) values (?, ?, ?, ?, ?, ?, ?, ?)`,
      seq,
      id,
      collection,
      run,
      from_turn,
      this.#texts.storeRemovable(this.#owner(seq), JSON.stringify(body)),
      vector?.space ?? null,
      vector?.bytes ?? null,
    );
  }

  remove(seq: number): void {
    this.#texts.remove(this.#owner(seq));
    this.#db.write(`delete from ${this.#name} where seq = ?`, seq);
  }

  #read(row: StoredRow): EntryRow<Body> {
    const text = this.#texts.load(this.#owner(row.seq), row.body);
    return { ...row, body: JSON.parse(text) as Body };
  }

  #owner(seq: number): string {
    return `${this.#name}:${seq}`;
  }
}
