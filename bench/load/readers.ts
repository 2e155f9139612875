import { join } from "node:path";
import { type JsonLines, startJsonLines } from "../support/json-lines.ts";

/** A request whose answer is a stream. */
export interface StreamRequest {
  method: "GET" | "POST";
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** Opens streams, one every `everyMs`, or measures for a while. */
export type Command =
  | { port: number; requests: readonly StreamRequest[]; everyMs: number }
  | { measureMs: number };

/** From the model server's write to the reader, in milliseconds. */
export interface Delays {
  tokens: number;
  median: number;
  p99: number;
  /** For each token that all streams got: until the last one had it. */
  reachedAll: number[];
  /** CPU of the reader, in cores. */
  cpu: number;
}

/** Reads streams in a process of its own. */
export class Readers implements AsyncDisposable {
  readonly #program: JsonLines;
  readonly #port: number;

  private constructor(program: JsonLines, port: number) {
    this.#program = program;
    this.#port = port;
  }

  static async start(origin: string): Promise<Readers> {
    const program = await startJsonLines(join(import.meta.dirname, "reading.ts"), []);
    return new Readers(program, Number(new URL(origin).port));
  }

  /** Resolves to whether all answers have started, within 30 s after the last request. */
  async open(requests: readonly StreamRequest[], everyMs: number): Promise<boolean> {
    const command = { port: this.#port, requests, everyMs };
    const { opened } = await this.#ask<{ opened: number }>(command);
    return opened === requests.length;
  }

  /** The delays of the tokens that are sent in the next `measureMs`. */
  async measure(measureMs: number): Promise<Delays> {
    const delays = await this.#ask<Delays>({ measureMs });
    if (delays.tokens === 0) throw new Error("no token arrived");
    return delays;
  }

  #ask<T>(command: Command): Promise<T> {
    return this.#program.ask(command);
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}
