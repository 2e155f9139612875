import { DurableObject } from "cloudflare:workers";
import type { RecallRequest } from "../support/recall-request.ts";
import { generatedVectors, uniform } from "../../test/sqlite/recall/generated-vectors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Database } from "../../src/sqlite/database.ts";
import { product, unitVector } from "../../src/sqlite/recall/codes/vector-code.ts";
import { loadStemmers } from "../../src/core/search/stem.ts";
import { RecallIndex, storedVector } from "../../src/sqlite/recall/recall-index.ts";
import { TextStore } from "../../src/sqlite/text-store.ts";

interface Fact {
  text: string;
  metadata: JsonObject | null;
}

/** Entries written in one transaction. */
const AT_ONCE = 500;
const SPACE = "generated";
const CLUSTERS = 200;
const VOCABULARY = 5_000;
const WORDS = 30;
const ASKED = 8;

/** An object with the index of memories, and nothing else. */
export class RecallObject extends DurableObject {
  readonly #db = new Database(this.ctx.storage);
  readonly #index = new RecallIndex<Fact>(this.#db, new TextStore(this.#db), "fact", {
    textOf: ({ text }) => text,
  });

  override async fetch(request: Request): Promise<Response> {
    await loadStemmers();
    const asked = await request.json<RecallRequest>();
    switch (asked.do) {
      case "fill":
        return Response.json(this.#fill(asked.count, asked.dimensions));
      case "search":
        return Response.json(this.#search(asked.queries, asked.by, asked.dimensions));
      case "exact":
        return Response.json(this.#exact(asked.queries, asked.dimensions));
      case "sections":
        this.#index.change(() => {
          for (const { id, text, values } of asked.sections) this.#put(id, text, values);
        });
        return Response.json(null);
      case "ask":
        return Response.json(
          asked.questions.map(({ text, values }) => this.#ids(text, values ?? undefined, asked.k)),
        );
      case "unload":
        this.ctx.abort("unloaded");
        return Response.json(null);
    }
  }

  #fill(count: number, dimensions: number): { rows: number } {
    this.#index.create();
    const before = this.#db.rowsWritten;
    const vectors = generatedVectors({ dimensions, clusters: CLUSTERS });
    const random = uniform(7);
    for (let from = 0; from < count; from += AT_ONCE) {
      this.#index.change(() => {
        for (let n = from; n < Math.min(count, from + AT_ONCE); n++) {
          this.#put(String(n), textOf(random, WORDS), vectors.next());
        }
      });
    }
    return { rows: (this.#db.rowsWritten - before) / count };
  }

  #put(id: string, text: string, values: number[]): void {
    const body = { text, metadata: null };
    const vector = storedVector({ space: SPACE, values });
    this.#index.put({ id, collection: null, run: null, from_turn: 0, body, vector });
  }

  #search(count: number, by: "words" | "vectors" | "both", dimensions: number): string[][] {
    return queries(count, dimensions).map(({ text, values }) =>
      this.#ids(by === "vectors" ? "" : text, by === "words" ? undefined : values, 10),
    );
  }

  #ids(text: string, values: number[] | undefined, k: number): string[] {
    const embedding = values && { space: SPACE, values };
    const { hits } = this.#index.search({ text, embedding, k, collection: null });
    return hits.map(({ row }) => row.id);
  }

  /** The first ten by comparing everything. */
  #exact(count: number, dimensions: number): string[][] {
    const asked = queries(count, dimensions).map(({ values }) => unitVector(values));
    const best = asked.map((): [string, number][] => []);
    for (const { id, vector } of this.#db.each<{ seq: number; id: string; vector: ArrayBuffer }>(
      "select seq, id, vector from fact where seq > ? order by seq",
      [0],
      ({ seq }) => [seq],
    )) {
      const stored = new Float32Array(vector);
      for (const [index, unit] of asked.entries()) {
        if (unit === undefined) continue;
        const list = [...(best[index] ?? []), [id, product(stored, unit)] as [string, number]];
        best[index] = list.length > 200 ? nearest(list) : list;
      }
    }
    return best.map((list) => nearest(list).map(([id]) => id));
  }
}

function nearest(found: readonly [string, number][]): [string, number][] {
  return found.toSorted(([, a], [, b]) => b - a).slice(0, 10);
}

interface Query {
  text: string;
  values: number[];
}

/** They outlast the object, so that making them is not measured. */
const made = new Map<number, Query[]>();

/** Queries come from the same clusters as the entries. */
function queries(count: number, dimensions: number): Query[] {
  const known = made.get(count) ?? newQueries(count, dimensions);
  made.set(count, known);
  return known;
}

function newQueries(count: number, dimensions: number): Query[] {
  const vectors = generatedVectors({ dimensions, clusters: CLUSTERS, drawn: 2 });
  const random = uniform(11);
  return Array.from({ length: count }, () => ({
    text: textOf(random, ASKED),
    values: vectors.next(),
  }));
}

/** Few words are frequent and most are rare, as in a language. */
function textOf(random: () => number, words: number): string {
  return Array.from(
    { length: words },
    () => `word${Math.floor(VOCABULARY * random() ** 3).toString(36)}`,
  ).join(" ");
}

export default {
  fetch(request, { RECALL }): Promise<Response> {
    const name = new URL(request.url).pathname;
    return RECALL.get(RECALL.idFromName(name)).fetch(request);
  },
} satisfies ExportedHandler<{ RECALL: DurableObjectNamespace<RecallObject> }>;
