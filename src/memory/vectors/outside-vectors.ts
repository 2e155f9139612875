import { sha256Hex } from "../../core/hash.ts";
import type { Database } from "../../sqlite/database.ts";
import type { AwayItem } from "../../sqlite/recall/away-items.ts";
import type { CodeIndex } from "../../sqlite/recall/code-index.ts";
import type { SpaceKey } from "../../sqlite/recall/code-space.ts";
import { type VectorBatch, VectorQueue } from "./vector-queue.ts";
import {
  MOST_DIMENSIONS,
  MOST_READ,
  type VectorIndexInfo,
  type VectorService,
  within,
} from "./vector-service.ts";

/** Vectors that one call writes, and batches that wait for the service to show them at a time. */
const BATCH_ENTRIES = 250;
const OPEN_BATCHES = 8;
/** Calls that delete vectors, at a time. */
const DELETES_AT_ONCE = 8;
/** Entries whose vectors return to the object at a time. */
const RETURNED_AT_ONCE = 1_000;
/** Once there are too many, so large a part of the bound stays in the object. */
const KEPT = 0.98;
const CALL_MS = 30_000;
/** How long the service is waited for before the next look. */
const LOOK_MS = 2_000;
/** The service has lost a batch that it does not show after this time, so that it is written again. */
const LOST_MS = 60_000;
/** A write without an answer may still arrive within this time. */
const UNDERWAY_MS = 60_000;
/** How far the clocks of the service and of this object may differ. */
const SKEW_MS = 1_000;
const LONGEST_DELAY_MS = 300_000;

/** The index of an object, as far as its vectors are concerned. */
export interface VectorIndex {
  readonly name: string;
  readonly exists: boolean;
  readonly codes: CodeIndex;
  vectorsOf(seqs: readonly number[], space: string): Map<number, Float32Array>;
  change<T>(changes: () => T): T;
}

export interface OutsideVectorsHost {
  db: Database;
  /** The name of the object: its tenant, and its user or collection. */
  name: string;
  index: VectorIndex;
  /** Undefined without the binding VECTORIZE. */
  service: VectorService | undefined;
  /** The number of vectors above which the service is used. */
  above: number;
  /** Has {@link OutsideVectors.work} called soon. */
  wake: () => void;
}

/**
 * The vectors of an object that are searched by an outside service, because the object has too many: writes them there,
 * deletes them there when their entries are erased, and takes them back when there is no such service any more. The
 * vectors stay in the object's database, too.
 */
export class OutsideVectors {
  readonly #host: OutsideVectorsHost;
  readonly #queue: VectorQueue;
  readonly #namespaces = new Map<string, Promise<string>>();
  /** Increases when vectors were moved or everything was erased. */
  #moves = 0;
  #failures = 0;
  #isDoubtful = false;
  /** The last deletion that the service has accepted, and when. */
  #deletion = { mutation: "", at: 0 };
  #dimensions: number | undefined;

  constructor(host: OutsideVectorsHost) {
    this.#host = host;
    this.#queue = new VectorQueue(host.db, () => host.index);
  }

  get moves(): number {
    return this.#moves;
  }

  /** Dimensions of the service's index; undefined before it was asked. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  /** How many entries are searched in the object. */
  get here(): number {
    return this.#count("here");
  }

  /** How many entries are searched by the service. */
  get away(): number {
    return this.#count("away");
  }

  /** How many of them have such vectors. */
  awayOf({ name, dimensions }: SpaceKey): number {
    const { index } = this.#host;
    if (!index.exists) return 0;
    const isIt = (key: SpaceKey): boolean => key.name === name && key.dimensions === dimensions;
    return index.codes.counts("away").find(({ key }) => isIt(key))?.count ?? 0;
  }

  /** Has the service looked at: it finds less than it should. */
  doubt(): void {
    this.#isDoubtful = true;
    this.#host.wake();
  }

  /** Begins what is to be done, after a change or at a search. */
  check(): void {
    const { service, wake } = this.#host;
    if (service === undefined ? this.away > 0 : this.#hasWork) wake();
  }

  /** The space of one object and one embedding in the service. Undefined if nothing was ever written there. */
  async namespace(space: string): Promise<string | undefined> {
    const { generation } = this.#queue;
    if (generation === undefined) return undefined;
    const text = `${this.#host.name}\n${generation}\n${space}`;
    const known = this.#namespaces.get(text) ?? sha256Hex(text);
    this.#namespaces.set(text, known);
    return known;
  }

  /** The entry with this id in the service; undefined for an id of another object. */
  itemOf(id: string): AwayItem | undefined {
    const [generation, seq, batch] = id.split(".");
    if (generation !== this.#queue.generation) return undefined;
    return { seq: Number(seq), batch: Number(batch) };
  }

  /**
   * Does what is to be done next.
   *
   * @returns milliseconds until it is to be called again; undefined when nothing is left to do
   */
  async work(): Promise<number | undefined> {
    const { service } = this.#host;
    if (service === undefined) return this.#return();
    if (!this.#hasWork) return undefined;
    try {
      const delay = await this.#step(service);
      this.#failures = 0;
      return delay;
    } catch {
      // Whatever it was, the entries are searched in the object meanwhile. A transaction may have failed.
      this.#queue.forget();
      this.#failures++;
      return Math.min(LONGEST_DELAY_MS, 1_000 * 2 ** this.#failures);
    }
  }

  /** Erases all tables of the object but those of what has to be deleted in the service. @returns false if there is nothing to delete there */
  leave(): boolean {
    const { index, db } = this.#host;
    const queue = this.#queue;
    const batches = queue.batches();
    const away = index.exists ? [...index.codes.away()] : [];
    this.#moves++;
    if (batches.length === 0 && away.length === 0 && !queue.hasGone) return false;
    db.transaction(() => {
      // The index notes what it has there.
      if (index.exists) index.codes.clear();
      for (const batch of batches) {
        queue.addGone(itemsOf(batch), Date.now() + UNDERWAY_MS);
        queue.removeBatch(batch);
      }
      db.dropTables(queue.tables);
    });
    return true;
  }

  /** Everything was erased. */
  forget(): void {
    this.#moves++;
    this.#queue.forget();
  }

  get #hasWork(): boolean {
    const queue = this.#queue;
    if (this.#isDoubtful || queue.hasGone || queue.hasBatches) return true;
    return this.here > this.#host.above && (this.#dimensions === undefined || this.#fitting > 0);
  }

  /** How many of the vectors in the object have as many dimensions as the service's index. */
  get #fitting(): number {
    const { index } = this.#host;
    return index.exists ? (mostOf(index.codes, this.#dimensions)?.count ?? 0) : 0;
  }

  async #step(service: VectorService): Promise<number | undefined> {
    const info = await within(CALL_MS, () => service.describe());
    this.#dimensions = info.dimensions;
    if (this.#isDoubtful) {
      if (await this.#hasLost(service)) return this.#return();
      this.#isDoubtful = false;
    }
    this.#settle(info);
    this.#addBatches(info.dimensions);
    for (let batch = this.#unsent(); batch !== undefined; batch = this.#unsent(batch.n)) {
      await this.#send(service, batch);
    }
    await this.#delete(service);
    return this.#nextLook();
  }

  /** Vectors that the service shows by now are searched there only. */
  #settle(info: VectorIndexInfo): void {
    const { index } = this.#host;
    const batches = this.#queue.batches();
    const until = this.#shownUntil(info, batches);
    for (const batch of batches) {
      if (batch.mutation === null || batch.sent_at > until) continue;
      index.change(() => {
        const other = batch.items.filter((item) => !index.codes.moveAway(batch.key, item, batch.n));
        // What was erased or replaced meanwhile. After several attempts one of them may still be on its way.
        const againAt = batch.attempts > 1 ? Date.now() + UNDERWAY_MS : null;
        this.#queue.addGone(itemsOf({ n: batch.n, items: other }), againAt);
        this.#queue.removeBatch(batch);
      });
      this.#moves++;
    }
  }

  /**
   * The service sees what it has accepted in its order. It names the last write that queries see, which may be one of this
   * object or of another, and when that was made.
   */
  #shownUntil(info: VectorIndexInfo, batches: readonly VectorBatch[]): number {
    const last = String(info.processedUpToMutation);
    const others = new Date(info.processedUpToDatetime).getTime() - SKEW_MS;
    const deleted = this.#deletion.mutation === last ? this.#deletion.at : 0;
    const own = batches.find(({ mutation }) => mutation === last)?.sent_at ?? deleted;
    return Math.max(own, Number.isNaN(others) ? 0 : others);
  }

  /** Chooses what has to leave the object: the oldest entries of the embedding that has most of them. */
  #addBatches(dimensions: number): void {
    const { index, above } = this.#host;
    if (!index.exists) return;
    const open = this.#queue.batches();
    const leaving = new Set(open.flatMap(({ items }) => items.map(({ seq }) => seq)));
    const most = mostOf(index.codes, dimensions);
    if (most === undefined || this.here - leaving.size <= above) return;
    let excess = this.here - leaving.size - Math.floor(KEPT * above);
    let items: VectorBatch["items"] = [];
    const batches: VectorBatch["items"][] = [];
    for (const entry of index.codes.here(most.key)) {
      if (excess === 0 || open.length + batches.length === OPEN_BATCHES) break;
      if (leaving.has(entry.seq)) continue;
      items.push(entry);
      excess--;
      if (items.length < BATCH_ENTRIES && excess > 0) continue;
      batches.push(items);
      items = [];
    }
    if (items.length > 0) batches.push(items);
    index.change(() => {
      for (const entries of batches) this.#queue.addBatch(most.key, entries);
    });
  }

  /**
   * Whether the service has lost what was written first: its index was deleted and created again. How many vectors it has
   * does not say it, because those of others are among them.
   */
  async #hasLost(service: VectorService): Promise<boolean> {
    const { index } = this.#host;
    const { generation } = this.#queue;
    const ids: string[] = [];
    for (const { seq, batch } of index.exists ? index.codes.away() : []) {
      ids.push(`${generation}.${seq}.${batch}`);
      if (ids.length === MOST_READ) break;
    }
    if (ids.length === 0) return false;
    return (await within(CALL_MS, () => service.getByIds(ids))).length === 0;
  }

  /** The next batch to be written. It is read again each time: while one was written, everything may have been erased. */
  #unsent(after = 0): VectorBatch | undefined {
    return this.#queue.batches().find(({ n, mutation, sent_at }) => {
      const isOverdue = mutation !== null && Date.now() - sent_at > LOST_MS;
      return n > after && (mutation === null || isOverdue);
    });
  }

  /** Writes the vectors of a batch, except of entries that were erased or replaced. Repeated, it writes the same. */
  async #send(service: VectorService, batch: VectorBatch): Promise<void> {
    const { index, db } = this.#host;
    const { key, n } = batch;
    const namespace = await this.namespace(key.name);
    const generation = this.#queue.generation;
    if (namespace === undefined || generation === undefined) return;
    const seqs = batch.items
      .filter(({ seq, text }) => index.exists && index.codes.textOf(key, seq) === text)
      .map(({ seq }) => seq);
    if (seqs.length === 0) {
      db.transaction(() => {
        const againAt = batch.attempts > 0 ? Date.now() + UNDERWAY_MS : null;
        if (batch.attempts > 0) this.#queue.addGone(itemsOf(batch), againAt);
        this.#queue.removeBatch(batch);
      });
      return;
    }
    const vectors = Array.from(index.vectorsOf(seqs, key.name), ([seq, values]) => ({
      id: `${generation}.${seq}.${n}`,
      namespace,
      values: Array.from(values),
    }));
    db.transaction(() => this.#queue.attempt(batch));
    const { mutationId } = await within(CALL_MS, () => service.upsert(vectors));
    if (this.#queue.generation !== generation) return;
    db.transaction(() => this.#queue.confirmBatch(batch, mutationId));
  }

  async #delete(service: VectorService): Promise<void> {
    const { db } = this.#host;
    for (const gone of this.#queue.gone(DELETES_AT_ONCE)) {
      const generation = this.#queue.generation;
      if (gone.due_at > Date.now() || generation === undefined) return;
      const ids = gone.items.map(({ seq, batch }) => `${generation}.${seq}.${batch}`);
      const { mutationId } = await within(CALL_MS, () => service.deleteByIds(ids));
      this.#deletion = { mutation: mutationId, at: Date.now() };
      if (this.#queue.generation !== generation) return;
      db.transaction(() => this.#queue.confirmGone(gone));
    }
  }

  #nextLook(): number | undefined {
    const [gone] = this.#queue.gone(1);
    const open = this.#queue.batches();
    const delays = [
      ...(gone === undefined ? [] : [Math.max(0, gone.due_at - Date.now())]),
      ...(open.length === 0 ? [] : [LOOK_MS]),
    ];
    if (delays.length > 0) return Math.min(...delays);
    const { index, db } = this.#host;
    if (!index.exists && this.#queue.generation !== undefined) {
      db.transaction(() => this.#queue.drop());
    }
    return undefined;
  }

  /** The vectors are searched in the object again: all at once would take too long. */
  #return(): number | undefined {
    const { index } = this.#host;
    const items: (AwayItem & { key: SpaceKey })[] = [];
    for (const item of index.exists ? index.codes.away() : []) {
      items.push(item);
      if (items.length === RETURNED_AT_ONCE) break;
    }
    if (items.length === 0) {
      this.#isDoubtful = false;
      return undefined;
    }
    index.change(() => {
      for (const { seq, key } of items) {
        const vector = index.vectorsOf([seq], key.name).get(seq);
        if (vector !== undefined) index.codes.moveHere(key, seq, vector);
      }
    });
    this.#moves++;
    return 0;
  }

  #count(where: "here" | "away"): number {
    const { index } = this.#host;
    if (!index.exists) return 0;
    return index.codes.counts(where).reduce((sum, { count }) => sum + count, 0);
  }
}

/** The embedding with these dimensions that most of the vectors in the object have. */
function mostOf(
  codes: CodeIndex,
  dimensions: number | undefined,
): { key: SpaceKey; count: number } | undefined {
  return codes
    .counts("here")
    .filter(({ key }) => key.dimensions === dimensions && key.dimensions <= MOST_DIMENSIONS)
    .toSorted((a, b) => b.count - a.count)[0];
}

function itemsOf({ n, items }: Pick<VectorBatch, "n" | "items">): AwayItem[] {
  return items.map(({ seq }) => ({ seq, batch: n }));
}
