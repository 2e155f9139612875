import { sha256Hex } from "../../core/hash.ts";
import type { AwayItem } from "../../sqlite/recall/codes/away-items.ts";
import type { SpaceKey } from "../../sqlite/recall/codes/code-space.ts";
import { VectorQueue } from "./vector-queue.ts";
import { MOST_READ, type VectorService, within } from "./vector-service.ts";
import {
  CALL_MS,
  countIn,
  itemsOf,
  mostOf,
  type TransferHost,
  UNDERWAY_MS,
  VectorTransfer,
} from "./vector-transfer.ts";

/** Entries whose vectors return to the object at a time. */
const RETURNED_AT_ONCE = 1_000;
const LONGEST_DELAY_MS = 300_000;

export interface OutsideVectorsHost extends TransferHost {
  /** The name of the object: its tenant, and its user or collection. */
  name: string;
  /** Undefined without the binding VECTORIZE. */
  service: VectorService | undefined;
  /** Schedules a call of {@link OutsideVectors.work}. */
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
  readonly #transfer: VectorTransfer;
  readonly #namespaces = new Map<string, Promise<string>>();
  /** Increases when vectors were moved or everything was erased. */
  #moves = 0;
  #failures = 0;
  #isDoubtful = false;
  #dimensions: number | undefined;

  constructor(host: OutsideVectorsHost) {
    this.#host = host;
    this.#queue = new VectorQueue(host.db, () => host.index);
    this.#transfer = new VectorTransfer(host, this.#queue, {
      namespace: (space) => this.namespace(space),
      moved: () => this.#moves++,
    });
  }

  get moves(): number {
    return this.#moves;
  }

  /** Dimensions of the service's index; undefined before it was asked. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  /** The number of entries that are searched in the object. */
  get here(): number {
    return countIn(this.#host.index, "here");
  }

  /** The number of entries that are searched by the service. */
  get away(): number {
    return countIn(this.#host.index, "away");
  }

  /** The number of them that have such vectors. */
  awayOf({ name, dimensions }: SpaceKey): number {
    const { index } = this.#host;
    if (!index.exists) return 0;
    const isIt = (key: SpaceKey): boolean => key.name === name && key.dimensions === dimensions;
    return index.codes.counts("away").find(({ key }) => isIt(key))?.count ?? 0;
  }

  /** Schedules a check of the service, because a search found less than it should. */
  doubt(): void {
    this.#isDoubtful = true;
    this.#host.wake();
  }

  /** Schedules the work that a change or a search has shown to be due. */
  check(): void {
    const { service, wake } = this.#host;
    if (service === undefined ? this.away > 0 : this.#hasWork) wake();
  }

  /** The space of one object and one embedding in the service. Undefined if nothing was ever written there. */
  async namespace(space: string): Promise<string | undefined> {
    const { generation } = this.#queue;
    if (generation === undefined) return undefined;
    const text = `${this.#host.name}\n${generation}\n${space}`;
    const existing = this.#namespaces.get(text) ?? sha256Hex(text);
    this.#namespaces.set(text, existing);
    return existing;
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
      // Whatever it was, the entries are searched in the object meanwhile.
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
      db.dropTables(["meta", ...queue.tables]);
    });
    return true;
  }

  /** Everything was erased. */
  forget(): void {
    this.#moves++;
    this.#host.db.forget();
  }

  get #hasWork(): boolean {
    const queue = this.#queue;
    if (this.#isDoubtful || queue.hasGone || queue.hasBatches) return true;
    return this.here > this.#host.above && (this.#dimensions === undefined || this.#fitting > 0);
  }

  /** The number of the vectors in the object that have as many dimensions as the service's index. */
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
    return this.#transfer.step(service, info);
  }

  /**
   * True if the service has lost the first writes: its index was deleted and created again. The number of its vectors
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
}
