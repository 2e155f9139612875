import { errorMessage } from "../../core/errors.ts";
import type { Embedding } from "../../core/memory/memory-host.ts";
import type { AwayItem } from "../../sqlite/recall/codes/away-items.ts";
import type { SpaceKey } from "../../sqlite/recall/codes/code-space.ts";
import { unitVector } from "../../sqlite/recall/codes/vector-code.ts";
import type { OutsideVectors } from "./outside-vectors.ts";
import { LateAnswer, MOST_MATCHES, type VectorService, within } from "./vector-service.ts";

/** A search does not wait longer for the service, and asks it again after a pause when it was late. */
const QUERY_MS = 2_000;
const PAUSE_MS = 10_000;
/** Vectors that move while the service is asked would be missed: then it is asked again. */
const MOST_QUERIES = 3;

/** The results of a search outside of the object, and its note. */
export interface FoundOutside {
  elsewhere: readonly AwayItem[];
  note?: string;
}

/** Asks the service for the entries that are like a query. It never fails: then the object alone is searched, with a note. */
export class OutsideSearch {
  readonly #vectors: OutsideVectors;
  readonly #service: VectorService | undefined;
  readonly #above: number;
  #pausedUntil = 0;

  constructor(vectors: OutsideVectors, service: VectorService | undefined, above: number) {
    this.#vectors = vectors;
    this.#service = service;
    this.#above = above;
  }

  /** @param embedding undefined for a search by words */
  async find(embedding: Embedding | undefined): Promise<FoundOutside> {
    const vectors = this.#vectors;
    vectors.check();
    const unit = embedding && unitVector(embedding.values);
    if (embedding === undefined || unit === undefined) return { elsewhere: [] };
    const key = { name: embedding.space, dimensions: unit.length };
    if (vectors.awayOf(key) === 0) {
      return { elsewhere: [], ...(await this.#noteOnMany(unit.length)) };
    }
    if (this.#service === undefined) return this.#without("the binding VECTORIZE is missing");
    if (Date.now() < this.#pausedUntil) return this.#without("Vectorize was late before");
    try {
      return { elsewhere: await this.#ask(this.#service, key, unit) };
    } catch (error) {
      if (error instanceof LateAnswer) this.#pausedUntil = Date.now() + PAUSE_MS;
      return this.#without(`Vectorize cannot be asked: ${errorMessage(error)}`);
    }
  }

  async #ask(service: VectorService, key: SpaceKey, unit: Float32Array): Promise<AwayItem[]> {
    const vectors = this.#vectors;
    for (let query = 1; ; query++) {
      const { moves } = vectors;
      const namespace = await vectors.namespace(key.name);
      if (namespace === undefined) return [];
      const options = { topK: MOST_MATCHES, namespace };
      const { matches } = await within(QUERY_MS, () => service.query(Array.from(unit), options));
      if (moves !== vectors.moves && query < MOST_QUERIES) continue;
      if (matches.length < Math.min(MOST_MATCHES, vectors.awayOf(key))) vectors.doubt();
      return matches.flatMap(({ id }) => vectors.itemOf(id) ?? []);
    }
  }

  #without(reason: string): FoundOutside {
    const { here, away } = this.#vectors;
    const note = `${away} of ${here + away} entries are found by their words only, because ${reason}`;
    return { elsewhere: [], note };
  }

  /** More vectors than an object should have. */
  async #noteOnMany(dimensions: number): Promise<{ note?: string }> {
    const vectors = this.#vectors;
    const { here } = vectors;
    if (here <= this.#above) return {};
    const many = `the object has ${here} vectors, more than ${this.#above}, and searches them all, which takes longer`;
    if (this.#service === undefined) {
      return { note: `${many}: the binding VECTORIZE would hold the rest` };
    }
    const has = await this.#dimensionsOf(this.#service);
    if (has === undefined || has === dimensions) return {};
    return {
      note: `${many}: the index of VECTORIZE has ${has} dimensions and the embedding ${dimensions}, so it cannot hold the rest. Bind an index with ${dimensions} dimensions (at most 1536), or set "dimensions" of the embedding`,
    };
  }

  /** Undefined if the service does not say it: then the vectors wait in the object. */
  async #dimensionsOf(service: VectorService): Promise<number | undefined> {
    if (this.#vectors.dimensions !== undefined) return this.#vectors.dimensions;
    if (Date.now() < this.#pausedUntil) return undefined;
    try {
      return (await within(QUERY_MS, () => service.describe())).dimensions;
    } catch {
      this.#pausedUntil = Date.now() + PAUSE_MS;
      return undefined;
    }
  }
}
