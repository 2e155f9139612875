import { hashOf } from "../../../core/hash.ts";
import type { Database } from "../../database.ts";
import { LazyTable } from "../../lazy-table.ts";
import { type AwayItem, packPairs } from "./away-items.ts";
import { AWAY_BYTES, BLOCK_ENTRIES, PackedCodes } from "./code-block.ts";
import { CodeSpace, hashNumber, type SpaceKey } from "./code-space.ts";
import { Estimates } from "./estimates.ts";

/** Entries without a vector. */
const NO_SPACE = 0;
/** Blocks of a space have numbers from here on, times its id. */
const SPACE_STEP = 2 ** 32;
/** Vectors that are deleted elsewhere by one call. */
const GONE_PER_ROW = 500;
const GONE =
  "(n integer primary key, items blob not null, due_at integer not null default 0, again_at integer)";
/** Several ids have one hash. */
const SEVERAL = -1;

/** The indexed parts of an entry besides its words. */
export interface IndexedEntry {
  id: string;
  text: string;
  /** Entries with another group are left out of searches in one. */
  group: string | null;
  vector?: { space: string; unit: Float32Array } | undefined;
}

/**
 * All entries of a table in memory: the hashes of their ids and texts and the one-bit codes of their vectors, packed into
 * rows of up to 256 entries. It is loaded at its first use.
 */
export class CodeIndex {
  readonly #db: Database;
  readonly #name: string;
  #spaces: Map<number, CodeSpace> | undefined;
  #ids = new Map<number, number>();
  readonly #changed = new Set<PackedCodes>();
  /** Entries that were removed though their vectors are elsewhere, where they have to be deleted. */
  #gone: AwayItem[] = [];
  /** Vectors that have to be deleted elsewhere, because their entries were removed or have other ones. */
  readonly goneTable: LazyTable;

  constructor(db: Database, name: string) {
    this.#db = db;
    this.#name = name;
    this.goneTable = new LazyTable(db, `${name}_gone`, GONE);
  }

  /** Must be called before the transaction that fills them. */
  create(): void {
    this.#db.write(
      `create table if not exists ${this.#name}_space (id integer primary key, name text not null, dimensions integer not null)`,
    );
    this.#db.write(
      `create table if not exists ${this.#name}_code (n integer primary key, body blob not null)`,
    );
  }

  /** Row ids of entries that may have this id; undefined if that is not known. */
  candidates(id: string): readonly number[] | undefined {
    this.#load();
    const found = this.#ids.get(hashNumber(id));
    if (found === SEVERAL) return undefined;
    return found === undefined ? [] : [found];
  }

  /** The number of entries. */
  get size(): number {
    let size = 0;
    for (const space of this.#load().values()) size += space.size;
    return size;
  }

  /** The number of entries with vectors of each kind that are searched here, or elsewhere. */
  counts(where: "here" | "away"): { key: SpaceKey; count: number }[] {
    return [...this.#load().values()]
      .filter(({ dimensions, isAway }) => dimensions !== 0 && isAway === (where === "away"))
      .map((space) => ({ key: space.key, count: space.size }))
      .filter(({ count }) => count > 0);
  }

  /** Entries without a vector, from a row id on, the earliest first. */
  bare(from: number): number[] {
    const seqs: number[] = [];
    for (const block of this.#load().get(NO_SPACE)?.blocks.values() ?? []) {
      for (let index = 0; index < block.count; index++) {
        const seq = block.seqAt(index);
        if (seq >= from) seqs.push(seq);
      }
    }
    return seqs.toSorted((a, b) => a - b);
  }

  /** An entry that may have this text, and has a vector of the space. */
  withText(space: string, text: string): number | undefined {
    for (const known of this.#load().values()) {
      if (known.name !== space || known.dimensions === 0) continue;
      const found = known.withText(hashNumber(text));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Estimates of the similarities to a vector; undefined if no entry has one of its space that is searched here. */
  estimates(space: string, unit: Float32Array, group: string | null): Estimates | undefined {
    const found = this.#find(space, unit.length);
    if (found?.coder === undefined || found.blocks.size === 0) return undefined;
    const wanted = group === null ? null : groupNumber(group);
    return new Estimates(found.coder.query(unit), found.layout, [...found.blocks.values()], wanted);
  }

  /** Entries whose vectors are searched here, those of the earliest block first. */
  here({ name, dimensions }: SpaceKey): Iterable<{ seq: number; text: number }> {
    return this.#find(name, dimensions)?.entries() ?? [];
  }

  /** The hash of the text of an entry whose vector is searched here; undefined if it has another vector. */
  textOf({ name, dimensions }: SpaceKey, seq: number): number | undefined {
    const place = this.#find(name, dimensions)?.find(seq);
    return place?.block.textAt(place.index);
  }

  /** All entries whose vectors are elsewhere. */
  *away(): Iterable<AwayItem & { key: SpaceKey }> {
    for (const space of this.#load().values()) {
      if (!space.isAway) continue;
      for (const item of itemsOf(space)) yield { ...item, key: space.key };
    }
  }

  /** True if the entry's vector was taken away by this batch, and is the entry's still. */
  isAway({ name, dimensions }: SpaceKey, { seq, batch }: AwayItem): boolean {
    const place = this.#find(name, -dimensions)?.find(seq);
    return place !== undefined && place.block.batchAt(place.index) === batch;
  }

  /** The vector of an entry is searched elsewhere from now on. @returns false if the entry has another text or vector by now */
  moveAway(key: SpaceKey, { seq, text }: { seq: number; text: number }, batch: number): boolean {
    if (this.textOf(key, seq) !== text) return false;
    const { name, dimensions } = key;
    const bits = new Uint8Array(AWAY_BYTES);
    new DataView(bits.buffer).setUint32(0, batch, true);
    this.#move(seq, this.#spaceFor(name, -dimensions), { bits, factor: 0 });
    return true;
  }

  /** The vector of an entry is searched here again. */
  moveHere({ name }: SpaceKey, seq: number, unit: Float32Array): void {
    const space = this.#spaceFor(name, unit.length);
    if (space.coder !== undefined) this.#move(seq, space, space.coder.encode(unit));
  }

  add(seq: number, { id, text, group, vector }: IndexedEntry): void {
    const space = this.#spaceFor(vector?.space ?? "", vector?.unit.length ?? 0);
    const code = vector && space.coder?.encode(vector.unit);
    const block = space.blockFor(seq);
    block.add(seq, {
      id: hashNumber(id),
      text: hashNumber(text),
      group: group === null ? 0 : groupNumber(group),
      factor: code?.factor ?? 0,
      bits: code?.bits ?? new Uint8Array(0),
    });
    this.#changed.add(block);
    this.#noteId(hashNumber(id), seq);
  }

  remove(seq: number): void {
    for (const space of this.#load().values()) {
      const place = space.find(seq);
      if (place === undefined) continue;
      const { block, index } = place;
      const id = block.idAt(index);
      if (this.#ids.get(id) === seq) this.#ids.delete(id);
      this.#take(space, seq);
    }
  }

  /** Writes the blocks that have changed: one row each. */
  store(): void {
    for (const space of this.#load().values()) {
      for (const [n, block] of space.blocks) {
        if (!this.#changed.has(block)) continue;
        const key = space.id * SPACE_STEP + n;
        if (block.count === 0) {
          space.blocks.delete(n);
          this.#db.write(`delete from ${this.#name}_code where n = ?`, key);
        } else {
          this.#db.write(
            `insert or replace into ${this.#name}_code values (?, ?)`,
            key,
            block.body,
          );
        }
      }
    }
    this.#changed.clear();
    this.#storeGone();
  }

  /** Removes all entries. */
  clear(): void {
    for (const { seq, batch } of this.away()) this.#gone.push({ seq, batch });
    this.#storeGone();
    this.#db.write(`delete from ${this.#name}_code`);
    this.#db.write(`delete from ${this.#name}_space`);
    this.forget();
  }

  /** After a transaction that was rolled back. */
  forget(): void {
    this.#spaces = undefined;
    this.#changed.clear();
    this.#gone = [];
  }

  #storeGone(): void {
    if (this.#gone.length === 0) return;
    this.goneTable.create();
    for (let from = 0; from < this.#gone.length; from += GONE_PER_ROW) {
      const pairs = this.#gone
        .slice(from, from + GONE_PER_ROW)
        .map(({ seq, batch }) => [seq, batch] as const);
      this.#db.write(`insert into ${this.#name}_gone (items) values (?)`, packPairs(pairs));
    }
    this.#gone = [];
  }

  #load(): Map<number, CodeSpace> {
    if (this.#spaces !== undefined) return this.#spaces;
    const spaces = new Map([[NO_SPACE, new CodeSpace(NO_SPACE, "", 0)]]);
    this.#spaces = spaces;
    this.#ids = new Map();
    for (const row of this.#db.all<{ id: number; name: string; dimensions: number }>(
      `select id, name, dimensions from ${this.#name}_space`,
    )) {
      spaces.set(row.id, new CodeSpace(row.id, row.name, row.dimensions));
    }
    for (const { n, body } of this.#db.each<{ n: number; body: ArrayBuffer }>(
      `select n, body from ${this.#name}_code where n > ? order by n`,
      [-1],
      (row) => [row.n],
    )) {
      const space = spaces.get(Math.floor(n / SPACE_STEP));
      if (space === undefined) continue;
      const block = new PackedCodes((n % SPACE_STEP) * BLOCK_ENTRIES, space.layout, body);
      space.blocks.set(n % SPACE_STEP, block);
      for (let index = 0; index < block.count; index++) {
        this.#noteId(block.idAt(index), block.seqAt(index));
      }
    }
    return spaces;
  }

  #noteId(hash: number, seq: number): void {
    const existing = this.#ids.get(hash);
    this.#ids.set(hash, existing === undefined || existing === seq ? seq : SEVERAL);
  }

  /** Takes the record of an entry out of its block. */
  #take(space: CodeSpace, seq: number): { id: number; text: number; group: number } | undefined {
    const place = space.find(seq);
    if (place === undefined) return undefined;
    const { block, index } = place;
    const record = {
      id: block.idAt(index),
      text: block.textAt(index),
      group: block.groupAt(index),
    };
    if (space.isAway) this.#gone.push({ seq, batch: block.batchAt(index) });
    space.remove(place);
    this.#changed.add(block);
    return record;
  }

  #move(seq: number, to: CodeSpace, code: { bits: Uint8Array; factor: number }): void {
    for (const space of this.#load().values()) {
      const record = this.#take(space, seq);
      if (record === undefined) continue;
      const block = to.blockFor(seq);
      block.add(seq, { ...record, ...code });
      this.#changed.add(block);
      return;
    }
  }

  #spaceFor(name: string, dimensions: number): CodeSpace {
    const spaces = this.#load();
    const existing = this.#find(name, dimensions);
    if (existing !== undefined) return existing;
    const id = Math.max(...spaces.keys()) + 1;
    this.#db.write(`insert into ${this.#name}_space values (?, ?, ?)`, id, name, dimensions);
    const space = new CodeSpace(id, name, dimensions);
    spaces.set(id, space);
    return space;
  }

  #find(name: string, dimensions: number): CodeSpace | undefined {
    return [...this.#load().values()].find(
      (space) => space.name === name && space.dimensions === dimensions,
    );
  }
}

function* itemsOf({ blocks }: CodeSpace): Iterable<AwayItem> {
  for (const block of blocks.values()) {
    for (let index = 0; index < block.count; index++) {
      yield { seq: block.seqAt(index), batch: block.batchAt(index) };
    }
  }
}

/** From 1 to 65,535. */
function groupNumber(group: string): number {
  return 1 + ((hashOf(group).low >>> 0) % 65_535);
}
