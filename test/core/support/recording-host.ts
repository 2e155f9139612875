import { TurnSignal } from "troupe";
import type { Answer, MemoryHost, Question, StepCache } from "troupe";
import type { Moment, StepRecord, TurnHost } from "#core/turn/turn-host.ts";
import type { ServerLogins } from "#core/steps/server-logins.ts";
import { runContext } from "#core/turn/run-context.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";

export interface Interruption {
  /** No new step starts once this many steps have a result. */
  afterSteps?: number;
  /** The process dies while the step with this key is running: its effect happened, its result was not recorded. */
  during?: string;
}

/**
 * The journal of one turn, as a durable host keeps it: each `attempt` runs the turn with what was recorded so far.
 * Its clock is a counter, so times say which step they come from.
 */
export class RecordingHost {
  readonly records = new Map<string, StepRecord>();
  readonly answers = new Map<string, Answer>();
  readonly questions: Question[] = [];
  readonly notes: string[] = [];
  /** What the host keeps of results, if anything. */
  cache?: StepCache;
  /** The logins of a tenant, if there are any. */
  logins?: ServerLogins;
  /** What an attempt reads and writes of memories, if anything. */
  memory?: () => MemoryHost;
  readonly #controller = new AbortController();
  readonly #session: string | undefined;
  #clock = 0;

  /** @param session the name of the team at external services */
  constructor(session?: string) {
    this.#session = session;
  }

  cancel(): void {
    this.#controller.abort();
  }

  attempt({ afterSteps = Infinity, during }: Interruption = {}): TurnScope {
    const { records, answers, questions } = this;
    let ended = 0;
    const { signal } = this.#controller;
    const clock = (): Moment => ({ at: ++this.#clock, ran: this.#clock });
    const host: TurnHost = {
      turnId: "run/1",
      started: { at: 0, ran: 0 },
      signal,
      stopRequested: false,
      env: {},
      run: runContext({ id: "run" }),
      ...(this.#session !== undefined && { session: this.#session }),
      ...(this.logins && { logins: this.logins }),
      ...(this.cache && { cache: this.cache }),
      ...(this.memory && { memory: this.memory() }),
      clock,
      gate: () => {
        if (signal.aborted) throw new TurnSignal("cancel");
        if (ended >= afterSteps) throw new TurnSignal("superseded");
      },
      recall: (key) => records.get(key),
      stepStarted: (key, step) => {
        if (step.policy !== "retry") records.set(key, structuredClone(step));
      },
      ended: (key, step) => {
        if (key === during) throw new TurnSignal("superseded");
        records.set(key, structuredClone(step));
        ended++;
      },
      threw: () => {},
      failed: () => {},
      invalidate: (_scope, key) => {
        records.delete(key);
      },
      backoff: (key, delay) => {
        this.#clock += delay;
        const record = records.get(key);
        if (record !== undefined) record.notBefore = this.#clock;
        return Promise.resolve();
      },
      discard: () => {},
      noted: (_scope, message) => void this.notes.push(message),
      answer: (question) => {
        questions.push(question);
        const answer = answers.get(question.id);
        if (answer === undefined) return Promise.reject(new TurnSignal("suspend"));
        return Promise.resolve({ answer, time: clock() });
      },
    };
    return TurnScope.root(host);
  }
}

/** Runs a generator to its end: what it yielded, and what it returned or threw. */
export async function outcome<Item, Result>(
  generator: AsyncGenerator<Item, Result, void>,
): Promise<{ items: Item[]; result?: Result; error?: unknown }> {
  const items: Item[] = [];
  try {
    for (;;) {
      const next = await generator.next();
      if (next.done) return { items, result: next.value };
      items.push(next.value);
    }
  } catch (error) {
    return { items, error };
  }
}
