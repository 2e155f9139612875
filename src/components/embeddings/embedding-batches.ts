import { beginningOf } from "../../core/cut.ts";
import { type EmbeddingResult, MOST_DIMENSIONS } from "../../core/memory/embedding-client.ts";
import { ModelError } from "../../core/models/model-error.ts";
import { addUsage, type RequestUsage } from "../../core/models/request-usage.ts";
import { bad, type EmbeddingAnswer, tooFew } from "./read-embeddings.ts";

/** The limits of one request to a server. */
export interface BatchLimits {
  inputs: number;
  /** No text has more tokens than bytes of UTF-8, so a request of that many bytes fits whatever its texts are. */
  tokens: number;
}

/** Beginning of a text that is embedded, in bytes of UTF-8: the models read 8,192 tokens or fewer. */
const LONGEST_INPUT_BYTES = 16_000;

/** Vectors of texts that were embedded last, so that a question that is asked again costs nothing. */
const MOST_KEPT = 64;

/** Sends texts in requests that the server takes, each text once, and checks its answers. */
export class EmbeddingBatches {
  readonly #model: string;
  readonly #limits: BatchLimits;
  readonly #dimensions: number | undefined;
  readonly #kept = new Map<string, number[]>();

  /** @param dimensions numbers of a vector; undefined if only the server knows */
  constructor(model: string, limits: BatchLimits, dimensions: number | undefined) {
    this.#model = model;
    this.#limits = limits;
    this.#dimensions = dimensions;
  }

  /**
   * @param ask sends one request; `number` counts them
   * @throws ModelError `bad_response` that names the field, for an answer that has not one vector for each text
   */
  async embed(
    texts: readonly string[],
    ask: (inputs: readonly string[], number: number) => Promise<EmbeddingAnswer>,
  ): Promise<EmbeddingResult> {
    const inputs = texts.map(inputOf);
    const missing = [...new Set(inputs)].filter((input) => !this.#kept.has(input));
    const made = new Map<string, number[]>();
    let usage = NOTHING;
    let estimate = NOTHING;
    for (const [number, batch] of this.#batches(missing).entries()) {
      const answer = await ask(batch, number);
      const vectors = this.#checked(answer.vectors, batch.length);
      for (const [index, input] of batch.entries()) made.set(input, vectors[index] as number[]);
      if (answer.usage === undefined) estimate = addUsage(estimate, estimated(batch));
      else usage = addUsage(usage, answer.usage);
    }
    const vectors = inputs.map((input) => (made.get(input) ?? this.#kept.get(input)) as number[]);
    for (const [index, input] of inputs.entries()) this.#keep(input, vectors[index] as number[]);
    return {
      vectors,
      usage,
      ...(estimate.prompt_tokens > 0 && { usage_details: { estimate } }),
      model: this.#model,
    };
  }

  #keep(input: string, vector: number[]): void {
    const [other] = this.#kept.values();
    // Another model answers behind the same address by now.
    if (other !== undefined && other.length !== vector.length) this.#kept.clear();
    this.#kept.delete(input);
    this.#kept.set(input, vector);
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST_KEPT) break;
      this.#kept.delete(oldest);
    }
  }

  #batches(inputs: readonly string[]): string[][] {
    const batches: string[][] = [];
    let bytes = 0;
    for (const input of inputs) {
      const size = encoder.encode(input).length;
      const last = batches.at(-1);
      bytes += size;
      if (last && last.length < this.#limits.inputs && bytes <= this.#limits.tokens) {
        last.push(input);
      } else {
        batches.push([input]);
        bytes = size;
      }
    }
    return batches;
  }

  #checked(vectors: unknown, wanted: number): number[][] {
    if (!Array.isArray(vectors)) throw bad("has no list of vectors");
    if (vectors.length !== wanted) throw tooFew(vectors.length, wanted);
    const dimensions = this.#dimensions ?? lengthOf(vectors[0]);
    return vectors.map((vector: unknown, index) => {
      if (!Array.isArray(vector) || vector.length === 0) {
        throw bad(`has no list of numbers in embedding ${index}`);
      }
      if (vector.length > MOST_DIMENSIONS) {
        throw new ModelError(
          "bad_response",
          `dimensions: the embedding server's answer has ${vector.length} numbers in embedding ${index}, and at most ${MOST_DIMENSIONS} are allowed`,
          { retryable: false },
        );
      }
      const strange = vector.findIndex((value) => !Number.isFinite(value));
      if (strange !== -1) {
        throw bad(`has no finite number in embedding ${index}, position ${strange}`);
      }
      if (vector.length !== dimensions) {
        throw new ModelError(
          "bad_response",
          `dimensions: the embedding server's answer has ${vector.length} numbers in embedding ${index}, and ${dimensions} are expected of "${this.#model}"`,
          { retryable: false },
        );
      }
      return vector as number[];
    });
  }
}

const encoder = new TextEncoder();

const NOTHING: RequestUsage = { prompt_tokens: 0, completion_tokens: 0 };

/** The beginning of a text. Servers refuse an empty one. */
function inputOf(text: string): string {
  if (text.trim() === "") return " ";
  if (text.length * 3 <= LONGEST_INPUT_BYTES) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(LONGEST_INPUT_BYTES));
  return beginningOf(text, read);
}

function estimated(texts: readonly string[]): RequestUsage {
  const prompt_tokens = texts.reduce((sum, { length }) => sum + Math.ceil(length / 4), 0);
  return { prompt_tokens, completion_tokens: 0 };
}

function lengthOf(vector: unknown): number {
  return Array.isArray(vector) ? vector.length : 0;
}
