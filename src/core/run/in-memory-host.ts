import { shortForm, ValueError } from "../errors.ts";
import { hashId } from "../hash.ts";
import type { Json, JsonObject } from "../json.ts";
import { ProcessMemory } from "../memory/process-memory.ts";
import type { ChatMessage } from "../messages/message.ts";
import { taskFiles } from "../messages/task-files.ts";
import type { ToolSchema } from "../models/chat-completion-client.ts";
import type { UsageByModel } from "../models/request-usage.ts";
import { wait } from "../wait.ts";
import { MemorySteering } from "./memory-steering.ts";
import { FailedSteps, type RunError } from "./run-error.ts";
import { ApprovedInMemory } from "./approved-in-memory.ts";
import { TurnSignal } from "../steps/signals.ts";
import type { StepKind } from "../steps/step-attempt.ts";
import { type RunContext, runContext } from "../turn/run-context.ts";
import type { Answer, Question } from "../turn/turn-context.ts";
import type { Moment, TurnHost } from "../turn/turn-host.ts";

/** Sees the turns and the steps of a run in memory, also those of inner teams. */
export interface RunWatcher {
  /** A turn begins. @param number 0 relays the task */
  turn(number: number): void;
  /** A step has ended. @param result as the step returned it: a `CreateResult` for a model; undefined where it failed */
  step(kind: StepKind, result: Json | undefined): void;
  /** A call that failed has used tokens, by model, and another one of its step follows. */
  spent(usage: UsageByModel): void;
}

export interface MemoryHostOptions {
  /** Cancels the run when it aborts (AutoGen `cancellation_token`). */
  signal?: AbortSignal | undefined;
  /** Answers {@link TurnContext.ask}; without it `ask` throws. */
  answer?: ((question: Question, signal: AbortSignal) => Answer | Promise<Answer>) | undefined;
  /** Tools that the assistant agents may call; `answer` makes the calls, as questions of the kind `tool`. */
  clientTools?: readonly ToolSchema[] | undefined;
  /** The `env` of agents and tools, which in a Worker has its bindings. Default: empty. */
  env?: object | undefined;
  /** For whom the run is: memories with the scope `user` are those of this user, and tools see it. */
  user?: string | undefined;
  /**
   * The rest of {@link TurnContext.run}, which tools and agents get with the user. Default of `team` and `tenant`: `local`.
   */
  team?: string | undefined;
  tenant?: string | undefined;
  subject?: string | undefined;
  metadata?: JsonObject | undefined;
  watcher?: RunWatcher | undefined;
}

/** Runs turns in memory without recording anything. One per run. */
export class InMemoryHost {
  readonly #run = hashId(crypto.randomUUID());
  readonly #options: MemoryHostOptions;
  /** Unique per run, even when several runs get the same signal, because the signal identifies the run. */
  readonly #signal: AbortSignal;
  readonly #startedAt = Date.now();
  #waitedMs = 0;
  /** The open questions and a pause, and since when there has been at least one. */
  #waits = 0;
  #waitingSince = 0;
  #paused: { over: Promise<void>; end: () => void } | undefined;
  readonly #failedSteps = new FailedSteps();
  readonly #memory: ProcessMemory;
  readonly #context: RunContext;
  readonly #notes = new Set<string>();
  readonly steering = new MemorySteering();
  /** The task of the run, once it has begun. */
  task: readonly ChatMessage[] | null = null;
  readonly #approved = new ApprovedInMemory();

  /** @param subject the agent or team that runs */
  constructor(options: MemoryHostOptions, subject: object = {}) {
    this.#options = options;
    this.#memory = new ProcessMemory({ subject, user: options.user, run: this.#run });
    this.#context = runContext({ ...options, id: this.#run });
    this.#signal = AbortSignal.any(options.signal ? [options.signal] : []);
  }

  turn(number: number): TurnHost {
    const options = this.#options;
    const task = (): readonly ChatMessage[] | null => this.task;
    const signal = this.#signal;
    const { watcher } = options;
    watcher?.turn(number);
    return {
      turnId: `${this.#run}/${number}`,
      started: this.#clock(),
      signal,
      stopRequested: false,
      env: options.env ?? {},
      run: this.#context,
      get files() {
        return taskFiles(task());
      },
      memory: this.#memory.turn(number),
      steering: this.steering,
      ...(options.clientTools && { clientTools: options.clientTools }),
      clock: () => this.#clock(),
      gate: () => {
        if (signal.aborted) throw new TurnSignal("cancel");
      },
      ready: () => this.ready(),
      recall: () => undefined,
      stepStarted: () => {},
      ended: (_key, { kind, outcome }) =>
        watcher?.step(kind, "ok" in outcome ? outcome.ok : undefined),
      spent: (_key, usage) => watcher?.spent(usage),
      threw: (key, error) => this.#failedSteps.note(error, key),
      failed: () => {},
      noted: (_scope, message) => this.#notes.add(message),
      invalidate: () => {},
      discard: () => {},
      backoff: async (_key, delay) => {
        await wait(delay, signal).catch(() => {
          throw new TurnSignal("cancel");
        });
      },
      answer: async (question) => {
        const answer = await this.#approved.answer(question, (asked) => this.#ask(asked));
        return { answer, time: this.#clock() };
      },
    };
  }

  /** Makes the memories of a complete turn permanent. */
  commit(): void {
    this.#memory.commit();
  }

  /** The notes of the run: its omissions, and why. */
  get notes(): string[] {
    return [...this.#notes];
  }

  get paused(): boolean {
    return this.#paused !== undefined;
  }

  /** Running steps finish; no other step begins before {@link resume}. */
  pause(): void {
    if (this.#paused !== undefined) return;
    let end = (): void => {};
    const over = new Promise<void>((resolve) => {
      end = resolve;
    });
    this.#paused = { over, end };
    this.#beginWait();
  }

  resume(): void {
    if (this.#paused === undefined) return;
    this.#endWait();
    this.#paused.end();
    this.#paused = undefined;
  }

  /** Waits while the run is paused. @throws TurnSignal when it is cancelled meanwhile */
  async ready(): Promise<void> {
    while (this.#paused !== undefined) await unlessAborted(this.#paused.over, this.#signal);
  }

  /** The error of a turn, with its location. */
  runError(error: unknown, turn: number): RunError {
    return this.#failedSteps.runError(error, turn);
  }

  async #ask(question: Question): Promise<Answer> {
    const { answer } = this.#options;
    const signal = this.#signal;
    if (answer === undefined) {
      throw new TypeError(
        `"${question.source}" asks a human, but the run has no answer function; pass the option "answer"`,
      );
    }
    this.#beginWait();
    try {
      return checkedAnswer(await unlessAborted(answer(question, signal), signal), question);
    } finally {
      this.#endWait();
    }
  }

  #beginWait(): void {
    if (this.#waits++ === 0) this.#waitingSince = Date.now();
  }

  #endWait(): void {
    if (--this.#waits === 0) this.#waitedMs += Date.now() - this.#waitingSince;
  }

  #clock(): Moment {
    const at = Date.now();
    const waiting = this.#waits > 0 ? at - this.#waitingSince : 0;
    return { at, ran: at - this.#startedAt - this.#waitedMs - waiting };
  }
}

/** The answer function may ignore the signal. */
async function unlessAborted<T>(answer: T | Promise<T>, signal: AbortSignal): Promise<T> {
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

/** @throws ValueError when a program returns something else, such as a text */
function checkedAnswer(answer: Answer, { kind, source }: Question): Answer {
  const isObject = typeof answer === "object" && answer !== null;
  if (isObject && ("content" in answer || "approved" in answer)) return answer;
  const form = kind === "approval" ? "{ approved: true }" : '{ content: "..." }';
  throw new ValueError(
    `The option "answer" of the run must return ${form} to the ${kind} that "${source}" asks for, not ${shortForm(answer)}`,
  );
}
