import { hashId } from "../ids.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import { wait } from "../wait.ts";
import { TurnSignal } from "./signals.ts";
import type { Answer, Question } from "./turn-context.ts";
import type { Moment, TurnHost } from "./turn-host.ts";

export interface MemoryHostOptions {
  signal?: AbortSignal;
  /** Answers {@link TurnContext.ask}; without it `ask` throws. */
  answer?(question: Question, signal: AbortSignal): Promise<Answer>;
  /** Tools that the assistant agents may call; `answer` makes the calls, as questions of the kind `tool`. */
  clientTools?: readonly ToolSchema[];
}

/** Runs turns in memory without recording anything. One per run. */
export class MemoryHost {
  readonly #run = hashId(crypto.randomUUID());
  readonly #options: MemoryHostOptions;
  /** Unique per run, even when several runs are given the same signal: runs are told apart by it. */
  readonly #signal: AbortSignal;
  readonly #startedAt = Date.now();
  #waitedMs = 0;
  /** Open questions, and since when there has been at least one. */
  #open = 0;
  #waitingSince = 0;

  constructor(options: MemoryHostOptions) {
    this.#options = options;
    this.#signal = AbortSignal.any(options.signal ? [options.signal] : []);
  }

  turn(number: number): TurnHost {
    const options = this.#options;
    const signal = this.#signal;
    return {
      turnId: `${this.#run}/${number}`,
      started: this.#clock(),
      signal,
      stopRequested: false,
      ...(options.clientTools && { clientTools: options.clientTools }),
      clock: () => this.#clock(),
      gate: () => {
        if (signal.aborted) throw new TurnSignal("cancel");
      },
      recall: () => undefined,
      begun: () => {},
      ended: () => {},
      threw: () => {},
      failed: () => {},
      invalidate: () => {},
      discard: () => {},
      backoff: async (_key, delay) => {
        await wait(delay, signal).catch(() => {
          throw new TurnSignal("cancel");
        });
      },
      answer: async (question) => {
        if (options.answer === undefined) {
          throw new TypeError(
            `"${question.source}" asks a human, but the run has no answer function; pass the option "answer"`,
          );
        }
        if (this.#open++ === 0) this.#waitingSince = Date.now();
        try {
          const given = await unlessAborted(options.answer(question, signal), signal);
          return { answer: given, time: this.#clock() };
        } finally {
          if (--this.#open === 0) this.#waitedMs += Date.now() - this.#waitingSince;
        }
      },
    };
  }

  #clock(): Moment {
    const at = Date.now();
    const waiting = this.#open > 0 ? at - this.#waitingSince : 0;
    return { at, ran: at - this.#startedAt - this.#waitedMs - waiting };
  }
}

/** The answer function may ignore the signal. */
async function unlessAborted<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  let cancel = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    cancel = () => reject(new TurnSignal("cancel"));
    signal.addEventListener("abort", cancel);
    if (signal.aborted) cancel();
  });
  try {
    return await Promise.race([answer, aborted]);
  } catch (error) {
    if (signal.aborted) throw new TurnSignal("cancel");
    throw error;
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}
