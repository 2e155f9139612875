import { Conversation, type RunResult, type StreamItem } from "./conversation.ts";
import { RunError } from "../http/errors.ts";
import { eventSource } from "../http/event-source.ts";
import type { CallOptions, Wake } from "../http/transport.ts";
import type { RunInfo } from "../http/wire.ts";

/** A message into a run. */
export interface SteerOptions extends CallOptions {
  /** The agent that gets it: a name, or a path as in `outer/inner`. Default: all agents. */
  to?: string;
}

/** The requests of a run's stream. */
export interface RunConnection {
  /** Starts the run. Repeated calls start the same run. */
  start: (signal: AbortSignal) => Promise<Response>;
  /** Continues the run's stream. */
  resume: (run: string, lastEventId: string | undefined, signal: AbortSignal) => Promise<Response>;
  /** The run with its result. */
  load: (run: string) => Promise<RunInfo>;
  /** Sends a message into the run. */
  steer: (run: string, content: string, options?: SteerOptions) => Promise<{ id: string }>;
  /** The client did something that a stream of this team waits for: it answered a question, for example. */
  wake: Wake;
  signal: AbortSignal | undefined;
  /** Called when all recorded frames were yielded; the following ones are live. */
  onLive?: (() => void) | undefined;
}

/**
 * A run. Iterate over it once to follow it, or await {@link result}. It reconnects after lost connections. Leaving the loop
 * closes the connection, and the run continues on the server.
 */
export class RunStream implements AsyncIterable<StreamItem> {
  /** The conversation so far. */
  readonly conversation = new Conversation();
  readonly #items: AsyncGenerator<StreamItem, void, void>;
  readonly #steer: RunConnection["steer"];
  readonly #known: string | undefined;
  #result: RunResult | undefined;

  constructor(connection: RunConnection, run?: string) {
    this.#steer = connection.steer;
    this.#known = run;
    this.#items = this.#iterate(connection, run);
  }

  [Symbol.asyncIterator](): AsyncGenerator<StreamItem, void, void> {
    return this.#items;
  }

  /**
   * Sends a message into the run, which its agents read at their next step. Possible once the stream has shown the run.
   *
   * @returns the id of the message
   * @throws ApiError `run_ended` once the run has ended
   *
   * @example
   * await run.steer("Shorter, please.");
   */
  async steer(content: string, options?: SteerOptions): Promise<{ id: string }> {
    const id = this.conversation.run?.id ?? this.#known;
    if (id === undefined) throw new TypeError("the stream has not shown the run yet");
    return this.#steer(id, content, options);
  }

  /** Reads the stream to its end. @throws RunError when the run fails or is cancelled */
  async result(): Promise<RunResult> {
    let next = await this.#items.next();
    while (!next.done) next = await this.#items.next();
    if (this.#result === undefined) throw new TypeError("the stream was left before its end");
    return this.#result;
  }

  async *#iterate(
    { start, resume, load, wake, signal, onLive }: RunConnection,
    known: string | undefined,
  ): AsyncGenerator<StreamItem, void, void> {
    const { conversation } = this;
    const id = (): string | undefined => conversation.run?.id ?? known;
    const open = async (lastId: string | undefined, aborted: AbortSignal) => {
      const run = id();
      const response =
        run === undefined ? await start(aborted) : await resume(run, lastId, aborted);
      return response.status === 204 ? null : response;
    };
    for await (const event of eventSource({ open, signal, wake })) {
      for (const item of conversation.apply(event)) {
        if (item.kind === "result") this.#result = item.result;
        yield item;
        if (item.kind === "result") return;
        if (item.kind === "failed") throw new RunError(await load(id() ?? ""));
        if (item.kind === "run" && item.run.status === "cancelled") throw new RunError(item.run);
      }
      if (event.event === "caught_up") onLive?.();
    }
    // The server has nothing left to send: the run ended, and its last frame was lost.
    const run = await load(id() ?? "");
    if (run.status !== "completed") throw new RunError(run);
    const { stop_reason, usage, result } = run;
    this.#result = { stop_reason, usage, messages: result?.messages ?? conversation.messages };
    yield { kind: "result", result: this.#result };
  }
}
