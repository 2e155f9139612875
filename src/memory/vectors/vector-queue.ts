import type { Database } from "../../sqlite/database.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import { type AwayItem, packPairs, unpackPairs } from "../../sqlite/recall/codes/away-items.ts";
import type { CodeIndex } from "../../sqlite/recall/codes/code-index.ts";
import type { SpaceKey } from "../../sqlite/recall/codes/code-space.ts";

/** Entries on their way to the service: their vectors are searched in the object until the service shows them. */
export interface VectorBatch {
  /** Increases, and is part of the ids: no id is ever used for another vector. */
  n: number;
  key: SpaceKey;
  /** Row ids with the hashes of their texts. */
  items: { seq: number; text: number }[];
  /** The number of times that it was sent, or was about to be. */
  attempts: number;
  /** The service's name for the write; null until it has confirmed one. */
  mutation: string | null;
  /** When that was, epoch milliseconds; no two batches have the same. */
  sent_at: number;
}

/** Vectors that are to be deleted in the service. */
export interface GoneVectors {
  n: number;
  items: AwayItem[];
  /** Epoch milliseconds. */
  due_at: number;
  /** When they are to be deleted once more, because a write of them may still arrive; null if none may. */
  again_at: number | null;
}

type BatchRow = Omit<VectorBatch, "key" | "items"> & SpaceKey & { items: ArrayBuffer };
type GoneRow = Omit<GoneVectors, "items"> & { items: ArrayBuffer };

const BATCH =
  "(n integer primary key, name text not null, dimensions integer not null, items blob not null, attempts integer not null, mutation text, sent_at integer not null)";
const STATE = "(n integer primary key, generation text not null, batch integer not null)";

/** Its tables, without that of the vectors to be deleted, which the index fills. */
const TABLES = ["vector_batch", "vector_state"];

/** The writes and deletions at the service that an object has still to make. Its methods are called in transactions. */
export class VectorQueue {
  readonly #db: Database;
  /** The index whose vectors it is about. */
  readonly #index: () => { readonly name: string; readonly codes: CodeIndex };
  readonly #state: LazyTable;
  readonly #batch: LazyTable;

  constructor(db: Database, index: () => { readonly name: string; readonly codes: CodeIndex }) {
    this.#db = db;
    this.#index = index;
    this.#state = new LazyTable(db, "vector_state", STATE);
    this.#batch = new LazyTable(db, "vector_batch", BATCH);
  }

  /** Distinguishes this object from all that have had its name. Undefined before the first batch. */
  get generation(): string | undefined {
    return this.#read()?.generation;
  }

  /** The tables that stay when everything else is erased. */
  get tables(): readonly string[] {
    return [...TABLES, `${this.#index().name}_gone`];
  }

  get hasBatches(): boolean {
    return (
      this.#batch.exists &&
      this.#db.first("select 1 as found from vector_batch limit 1") !== undefined
    );
  }

  batches(): VectorBatch[] {
    if (!this.#batch.exists) return [];
    return this.#db
      .all<BatchRow & Record<string, string | number | null | ArrayBuffer>>(
        "select n, name, dimensions, items, attempts, mutation, sent_at from vector_batch order by n",
      )
      .map(({ name, dimensions, items, ...row }) => ({
        ...row,
        key: { name, dimensions },
        items: unpackPairs(items).map(([seq, text]) => ({ seq, text })),
      }));
  }

  addBatch(key: SpaceKey, items: VectorBatch["items"]): void {
    this.#state.create();
    this.#batch.create();
    const { generation, batch } = this.#read() ?? { generation: newGeneration(), batch: 0 };
    const n = batch + 1;
    this.#db.write("insert or replace into vector_state values (1, ?, ?)", generation, n);
    this.#db.write(
      "insert into vector_batch values (?, ?, ?, ?, 0, null, 0)",
      n,
      key.name,
      key.dimensions,
      packPairs(items.map(({ seq, text }) => [seq, text])),
    );
  }

  /** It is about to be sent. */
  attempt({ n }: VectorBatch): void {
    this.#db.write("update vector_batch set attempts = attempts + 1 where n = ?", n);
  }

  /** The service has accepted it. */
  confirmBatch({ n }: VectorBatch, mutation: string): void {
    this.#db.write(
      "update vector_batch set mutation = ?, sent_at = max(?, (select max(sent_at) + 1 from vector_batch)) where n = ?",
      mutation,
      Date.now(),
      n,
    );
  }

  removeBatch({ n }: VectorBatch): void {
    this.#db.write("delete from vector_batch where n = ?", n);
  }

  /** True if there is anything to delete. */
  get hasGone(): boolean {
    return (
      this.#gone.exists &&
      this.#db.first(`select 1 as found from ${this.#index().name}_gone limit 1`) !== undefined
    );
  }

  /** Those that are due first. */
  gone(limit: number): GoneVectors[] {
    if (!this.#gone.exists) return [];
    return this.#db
      .all<GoneRow & Record<string, string | number | null | ArrayBuffer>>(
        `select n, items, due_at, again_at from ${this.#index().name}_gone order by due_at, n limit ?`,
        limit,
      )
      .map(({ items, ...row }) => ({
        ...row,
        items: unpackPairs(items).map(([seq, batch]) => ({ seq, batch })),
      }));
  }

  /** @param againAt as in {@link GoneVectors} */
  addGone(items: readonly AwayItem[], againAt: number | null): void {
    if (items.length === 0) return;
    this.#gone.create();
    this.#db.write(
      `insert into ${this.#index().name}_gone (items, again_at) values (?, ?)`,
      packPairs(items.map(({ seq, batch }) => [seq, batch])),
      againAt,
    );
  }

  /** The service has deleted them. */
  confirmGone({ n, again_at }: GoneVectors): void {
    if (again_at === null) {
      this.#db.write(`delete from ${this.#index().name}_gone where n = ?`, n);
    } else {
      this.#db.write(
        `update ${this.#index().name}_gone set due_at = ?, again_at = null where n = ?`,
        again_at,
        n,
      );
    }
  }

  /** There is nothing left to do. The version of the tables goes with the last of them. */
  drop(): void {
    for (const table of this.tables) this.#db.write(`drop table if exists ${table}`);
    if (!this.#db.hasTables("meta")) this.#db.write("drop table if exists meta");
  }

  get #gone(): LazyTable {
    return this.#index().codes.goneTable;
  }

  #read(): { generation: string; batch: number } | undefined {
    if (!this.#state.exists) return undefined;
    return this.#db.first<{ generation: string; batch: number }>(
      "select generation, batch from vector_state",
    );
  }
}

/** 16 random bytes, of which ids and namespaces are made. */
function newGeneration(): string {
  return crypto.randomUUID().replaceAll("-", "");
}
