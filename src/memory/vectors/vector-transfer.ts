import type { Database } from "../../sqlite/database.ts";
import type { AwayItem } from "../../sqlite/recall/codes/away-items.ts";
import type { CodeIndex } from "../../sqlite/recall/codes/code-index.ts";
import type { SpaceKey } from "../../sqlite/recall/codes/code-space.ts";
import type { VectorBatch, VectorQueue } from "./vector-queue.ts";
import {
  MOST_DIMENSIONS,
  type VectorIndexInfo,
  type VectorService,
  within,
} from "./vector-service.ts";

/** Vectors that one call writes, and batches that wait for the service to show them at a time. */
const BATCH_ENTRIES = 250;
const OPEN_BATCHES = 8;
/** Calls that delete vectors, at a time. */
const DELETES_AT_ONCE = 8;
/** Once there are too many, so large a part of the bound stays in the object. */
const KEPT = 0.98;
/** A call of the service is not waited for longer. */
export const CALL_MS = 30_000;
/** The wait for the service before the next look. */
const LOOK_MS = 2_000;
/** The service has lost a batch that it does not show after this time, so that it is written again. */
const LOST_MS = 60_000;
/** A write without an answer may still arrive within this time. */
export const UNDERWAY_MS = 60_000;
/** The most by which the clocks of the service and of this object may differ. */
const SKEW_MS = 1_000;

/** The index of an object, as far as its vectors are concerned. */
export interface VectorIndex {
  readonly name: string;
  readonly exists: boolean;
  readonly codes: CodeIndex;
  vectorsOf(seqs: readonly number[], space: string): Map<number, Float32Array>;
  change<T>(changes: () => T): T;
}

export interface TransferHost {
  db: Database;
  index: VectorIndex;
  /** The number of vectors above which the service is used. */
  above: number;
}

/** The way of vectors to the service: batches that are written, until it shows them, and deletions. */
export class VectorTransfer {
  readonly #host: TransferHost;
  readonly #queue: VectorQueue;
  /** The space of an embedding in the service. */
  readonly #namespace: (space: string) => Promise<string | undefined>;
  /** Called when vectors have moved. */
  readonly #moved: () => void;
  /** The last deletion that the service has accepted, and when. */
  #deletion = { mutation: "", at: 0 };

  constructor(
    host: TransferHost,
    queue: VectorQueue,
    {
      namespace,
      moved,
    }: { namespace: (space: string) => Promise<string | undefined>; moved: () => void },
  ) {
    this.#host = host;
    this.#queue = queue;
    this.#namespace = namespace;
    this.#moved = moved;
  }

  /** Does what can be done now. @returns milliseconds until the next look; undefined when nothing is left to do */
  async step(service: VectorService, info: VectorIndexInfo): Promise<number | undefined> {
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
        // Entries that were erased or replaced meanwhile. After several attempts one of them may still be on its way.
        const againAt = batch.attempts > 1 ? Date.now() + UNDERWAY_MS : null;
        this.#queue.addGone(itemsOf({ n: batch.n, items: other }), againAt);
        this.#queue.removeBatch(batch);
      });
      this.#moved();
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
    const here = countIn(index, "here");
    if (most === undefined || here - leaving.size <= above) return;
    let excess = here - leaving.size - Math.floor(KEPT * above);
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
    const namespace = await this.#namespace(key.name);
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
}

/** The number of entries that are searched in the object, or by the service. */
export function countIn(index: VectorIndex, where: "here" | "away"): number {
  if (!index.exists) return 0;
  return index.codes.counts(where).reduce((sum, { count }) => sum + count, 0);
}

/** The embedding with these dimensions that most of the vectors in the object have. */
export function mostOf(
  codes: CodeIndex,
  dimensions: number | undefined,
): { key: SpaceKey; count: number } | undefined {
  return codes
    .counts("here")
    .filter(({ key }) => key.dimensions === dimensions && key.dimensions <= MOST_DIMENSIONS)
    .toSorted((a, b) => b.count - a.count)[0];
}

export function itemsOf({ n, items }: Pick<VectorBatch, "n" | "items">): AwayItem[] {
  return items.map(({ seq }) => ({ seq, batch: n }));
}
