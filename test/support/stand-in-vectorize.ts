import type {
  OutsideVector,
  VectorIndexInfo,
  VectorService,
} from "#memory/vectors/vector-service.ts";

/** What the stand-in does instead of answering well. */
export interface VectorizeTrouble {
  /** Which calls; all without it. */
  method?: keyof VectorService;
  /** The call is refused with this message. */
  fails?: string;
  /** The call never answers. */
  hangs?: boolean;
  /** The call is carried out and not answered. */
  losesAnswer?: boolean;
}

interface Mutation {
  id: string;
  /** When it was made, by the clock of the stand-in, which decides when it shows. */
  at: number;
  /** The same by the clock that objects have, which no test moves. */
  made: number;
  apply: () => void;
}

const encoder = new TextEncoder();

/**
 * Acts as an index of Vectorize: refuses what the platform refuses, and shows writes and deletions when its clock, which the
 * test moves, says that they are 10 seconds old.
 */
export class StandInVectorize implements VectorService {
  readonly dimensions: number;
  readonly calls: { method: string; ids?: string[]; namespace?: string | undefined }[] = [];
  trouble: VectorizeTrouble | undefined;
  #ahead = 0;
  #visible = new Map<string, OutsideVector>();
  #mutations: Mutation[] = [];
  #last = { id: "", made: 0 };

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  /** Moves its clock. */
  pass(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  /** Those that a query sees now. */
  get visible(): OutsideVector[] {
    this.#settle();
    return [...this.#visible.values()];
  }

  /** All that were written and are not deleted, seen or not. */
  get written(): string[] {
    const before = new Map(this.#visible);
    for (const { apply } of this.#mutations) apply();
    const ids = [...this.#visible.keys()];
    this.#visible = before;
    return ids;
  }

  /** Loses everything, as an index does that was deleted and created again. */
  empty(): void {
    this.#visible.clear();
    this.#mutations = [];
  }

  describe(): Promise<VectorIndexInfo> {
    return this.#call("describe", {}, () => {
      this.#settle();
      return {
        dimensions: this.dimensions,
        processedUpToDatetime: new Date(this.#last.made).toISOString(),
        processedUpToMutation: this.#last.id,
      };
    });
  }

  query(
    vector: number[],
    { topK, namespace }: { topK: number; namespace?: string },
  ): Promise<{ matches: { id: string; score: number }[] }> {
    return this.#call("query", { namespace }, () => {
      this.#checkDimensions(vector.length);
      if (topK > 100) refuse(`topK is ${topK}: at most 100`);
      this.#settle();
      const matches = [...this.#visible.values()]
        .filter((known) => namespace === undefined || known.namespace === namespace)
        .map(({ id, values }) => ({ id, score: cosine(vector, values) }))
        .toSorted((a, b) => b.score - a.score)
        .slice(0, topK);
      return { matches };
    });
  }

  getByIds(ids: string[]): Promise<OutsideVector[]> {
    return this.#call("getByIds", { ids }, () => {
      if (ids.length > 20) refuse(`${ids.length} ids: at most 20`);
      this.#settle();
      return ids.flatMap((id) => this.#visible.get(id) ?? []);
    });
  }

  upsert(vectors: OutsideVector[]): Promise<{ mutationId: string }> {
    return this.#call("upsert", { ids: vectors.map(({ id }) => id) }, () => {
      if (vectors.length > 1_000) refuse(`${vectors.length} vectors: at most 1000`);
      for (const { id, values, namespace } of vectors) {
        this.#checkDimensions(values.length);
        if (bytes(id) > 64 || id === "") refuse(`the id ${id} has more than 64 bytes`);
        if (bytes(namespace) > 64) refuse(`the namespace ${namespace} has more than 64 bytes`);
      }
      return this.#mutate(() => {
        for (const vector of vectors) this.#visible.set(vector.id, vector);
      });
    });
  }

  deleteByIds(ids: string[]): Promise<{ mutationId: string }> {
    return this.#call("deleteByIds", { ids }, () => {
      if (ids.length > 1_000) refuse(`${ids.length} ids: at most 1000`);
      return this.#mutate(() => {
        for (const id of ids) this.#visible.delete(id);
      });
    });
  }

  async #call<T>(
    method: keyof VectorService,
    about: { ids?: string[]; namespace?: string | undefined },
    answer: () => T,
  ): Promise<T> {
    this.calls.push({ method, ...about });
    const trouble = (this.trouble?.method ?? method) === method ? this.trouble : undefined;
    if (trouble?.hangs) return new Promise<never>(() => {});
    if (trouble?.fails !== undefined) refuse(trouble.fails);
    const answered = answer();
    return trouble?.losesAnswer ? new Promise<never>(() => {}) : answered;
  }

  #mutate(apply: () => void): { mutationId: string } {
    const id = crypto.randomUUID();
    this.#mutations.push({ id, at: this.#now, made: Date.now(), apply });
    return { mutationId: id };
  }

  #settle(): void {
    while ((this.#mutations[0]?.at ?? Infinity) + 10_000 <= this.#now) {
      const mutation = this.#mutations.shift();
      mutation?.apply();
      if (mutation !== undefined) this.#last = mutation;
    }
  }

  get #now(): number {
    return Date.now() + this.#ahead;
  }

  #checkDimensions(count: number): void {
    if (count !== this.dimensions)
      refuse(`invalid vector: expected ${this.dimensions} dimensions, and got ${count}`);
  }
}

function refuse(message: string): never {
  throw new Error(`VECTOR_ERROR: ${message}`);
}

function bytes(text: string): number {
  return encoder.encode(text).length;
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let [product, ofA, ofB] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    product += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return product / Math.sqrt(ofA * ofB);
}
