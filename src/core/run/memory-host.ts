import { hashId } from "../ids.ts";
import { retryDelay } from "./retry.ts";
import { TurnSignal } from "./signals.ts";
import type { Answer, Question } from "./turn-context.ts";
import type { Moment, TurnHost } from "./turn-host.ts";

export interface MemoryHostOptions {
  signal?: AbortSignal;
  /** Answers {@link TurnContext.ask}; without it, asking throws. */
  answer?(question: Question, signal: AbortSignal): Promise<Answer>;
}

const NEVER_ABORTED = new AbortController().signal;

/** Runs turns in memory: nothing is recorded, nothing survives. One per run. */
export class MemoryHost {
  readonly #run = hashId(crypto.randomUUID());
  readonly #options: MemoryHostOptions;
  readonly #startedAt = Date.now();
  #waitedMs = 0;

  constructor(options: MemoryHostOptions) {
    this.#options = options;
  }

  turn(number: number): TurnHost {
    const options = this.#options;
    const { signal = NEVER_ABORTED } = options;
    return {
      turnId: `${this.#run}/${number}`,
      started: this.#clock(),
      signal,
      stopRequested: false,
      clock: () => this.#clock(),
      gate: () => {
        if (signal.aborted) throw new TurnSignal("cancel");
      },
      recall: () => undefined,
      begun: () => {},
      ended: () => {},
      invalidate: () => {},
      discard: () => {},
      backoff: async (_key, attempt, error) => {
        const delay = retryDelay(attempt, error);
        if (delay === undefined) throw error;
        await wait(delay, signal);
      },
      answer: async (question) => {
        if (options.answer === undefined) {
          throw new TypeError(`"${question.source}" asks a human, but nobody was named to answer`);
        }
        const asked = Date.now();
        const given = await options.answer(question, signal);
        this.#waitedMs += Date.now() - asked;
        return { answer: given, time: this.#clock() };
      },
    };
  }

  #clock(): Moment {
    const at = Date.now();
    return { at, ran: at - this.#startedAt - this.#waitedMs };
  }
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      if (signal.aborted) reject(new TurnSignal("cancel"));
      else resolve();
    }
  });
}
