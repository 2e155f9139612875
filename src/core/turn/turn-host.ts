import type { Json, JsonObject } from "../json.ts";
import type { TaskFile } from "../messages/task-files.ts";
import type { MemoryHost } from "../memory/memory-host.ts";
import type { AnswerForm, ToolSchema } from "../models/chat-completion-client.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { UsageByModel } from "../models/request-usage.ts";
import type { RemoteWork } from "../steps/remote-work.ts";
import type { ServerLogins } from "../steps/server-logins.ts";
import type {
  StepCache,
  StepKind,
  StepPolicy,
  StepSubject,
  TraceContext,
} from "../steps/step-attempt.ts";
import type { RunContext } from "./run-context.ts";
import type { SteeringHost } from "./steering.ts";
import type {
  Answer,
  CallEstimate,
  Question,
  RequestOfStep,
  ScopeSubject,
} from "./turn-context.ts";

/** A moment of a run: epoch milliseconds, and the milliseconds the run has been running (no waits, no pauses). */
export interface Moment {
  at: number;
  ran: number;
}

/** The recorded end of a step. */
export type StepOutcome = ({ ok: Json } | { error: StepFailure }) & { time: Moment };

/** The final failure of a step. When the turn runs again, the step fails in the same way without running. */
export interface StepFailure {
  /** The code of an error of this library; `run_failed` for other errors. */
  code: string;
  message: string;
  /** The error's name; `Error` when another value was thrown. */
  name: string;
  /** True if the error passes, and no attempt was left. */
  retryable?: true;
}

/** The record of a step. Without an outcome, the step had started when the host died. */
export interface StepRecord {
  kind: StepKind;
  policy: StepPolicy;
  attempt: number;
  /** When the first attempt failed, epoch milliseconds; undefined if none has failed. */
  failingSince?: number;
  /** When the next attempt may be made, epoch milliseconds; undefined unless the step waits after a failed one. */
  notBefore?: number;
  fingerprint: string;
  subject?: StepSubject;
  outcome?: StepOutcome;
}

/** True if a step without an outcome may run (again): by its policy, or because its last attempt sent nothing. */
export function mayRun({ policy, notBefore }: Pick<StepRecord, "policy" | "notBefore">): boolean {
  return policy === "retry" || notBefore !== undefined;
}

/** A step that is about to begin. */
export interface StepAhead {
  /** Its path in the turn. */
  readonly key: string;
  readonly subject?: StepSubject | undefined;
  /** {@link StepOptions.remote}, or that it calls a model. */
  readonly isRemote: boolean;
}

/** A model call that has no answer yet. */
export interface ModelCallUnderWay {
  model: string | undefined;
  /** {@link StepOptions.input} */
  input: () => readonly LLMMessage[];
  /** The message whose text streams. */
  messageId: string | undefined;
  /** {@link StreamStepOptions.isAnswer} */
  isAnswer: boolean;
}

/** An attempt at a step that failed and is followed by another one. */
export interface FailedStep {
  attempt: number;
  failingSince: number;
  error: unknown;
}

/** The failure of one of several branches, and the path of its scope. */
export interface BranchFailure {
  scope: string;
  error: unknown;
}

/**
 * The port between {@link TurnScope} and the host of a turn: memory, or a Durable Object with a journal. All calls except
 * `backoff` and `answer` are synchronous, so that their writes are stored together with the caller's next ones.
 */
export interface TurnHost {
  /** Prefix of all ids and keys of this turn: unique per run and turn. */
  readonly turnId: string;
  /** When the turn starts, the same when it runs again. */
  readonly started: Moment;
  readonly signal: AbortSignal;
  readonly stopRequested: boolean;
  /** {@link TurnContext.env} */
  readonly env: object;
  /** {@link TurnContext.run} */
  readonly run: RunContext;
  /** {@link TurnContext.files}. They are looked up when something reads them. */
  readonly files?: readonly TaskFile[];
  /** {@link TurnContext.clientTools} */
  readonly clientTools?: readonly ToolSchema[];
  /** {@link TurnContext.answerForm} */
  readonly answerForm?: AnswerForm | undefined;
  readonly cache?: StepCache;
  /** {@link TurnContext.memory}. Without it nothing is remembered. */
  readonly memory?: MemoryHost;
  /** Undefined on hosts into whose runs nothing comes. */
  readonly steering?: SteeringHost | undefined;
  /** {@link StepAttempt.session} */
  readonly session?: string;
  /** {@link StepAttempt.logins} */
  readonly logins?: ServerLogins | undefined;
  clock(): Moment;
  /** Throws a {@link TurnSignal} when no effect may start. */
  gate(): void;
  /**
   * Awaited before a step begins, or a question is asked: without a `step`. Hosts in memory wait while the run is paused; hosts
   * that record steps pause with a signal from `gate` instead.
   */
  ready?(step?: StepAhead): Promise<void> | undefined;
  /** Awaited after a step, before the code that made it continues. */
  settled?(): Promise<void> | undefined;
  recall(key: string): StepRecord | undefined;
  /**
   * Reserves what an attempt at a model call may use. Undefined when it may begin at once; otherwise resolves when the calls
   * under way leave room for it. Undefined on hosts that limit nothing.
   *
   * @param gate throws a signal when the call may not begin any more
   */
  reserve?(
    key: string,
    estimate: () => Promise<CallEstimate>,
    gate: () => void,
  ): Promise<void> | undefined;
  /** The attempt has ended: what was reserved for it is free. */
  release?(key: string): void;
  /** Called before an effect. Hosts record it for policies other than `retry`. */
  stepStarted(key: string, step: Omit<StepRecord, "outcome">): void;
  ended(key: string, step: StepRecord & { outcome: StepOutcome }): void;
  /** The step failed finally, now or as recorded, and throws `error`. */
  threw(key: string, error: unknown): void;
  /** These parallel branches failed, in this order; the first one's error is thrown. */
  failed(branches: readonly BranchFailure[]): void;
  /**
   * The recorded request differs from the current one: removes the steps from `key` on in this scope and retracts the
   * scope's messages. @throws code_changed when one of the steps must not run again
   */
  invalidate(scope: string, key: string): void;
  /** Waits `delay` milliseconds before the next attempt. Throws a signal when the wait is long. */
  backoff(key: string, delay: number, failed: FailedStep): Promise<void>;
  /** The text streamed for this message is void: its call is made again. */
  discard(messageId: string): void;
  /** {@link StepAttempt.flush} */
  flush?(): void;
  /** {@link TurnContext.describe}. @param at when the scope was opened: the end of the last step before it */
  described?(scope: string, subject: ScopeSubject, at: Moment): void;
  /** {@link TurnContext.innerTurn}. @param scope the path of the scope that the team runs in */
  innerTurn?(scope: string, team: string, state: () => JsonObject | undefined): void;
  /** {@link TurnContext.note}. @param scope the path of the scope that the note comes from */
  noted?(scope: string, message: string): void;
  /** A model is called. Undefined on hosts that count nothing. */
  calls?(key: string, call: ModelCallUnderWay): void;
  /** {@link StepAttempt.spent} */
  spent?(key: string, usage: UsageByModel): void;
  /** Only on hosts that show requests instead of making them: throws in the place of each effect. @param request a model's */
  shows?(key: string, request: RequestOfStep | undefined): never;
  /** {@link StepAttempt.trace} */
  traceContext?(key: string): TraceContext | undefined;
  /** {@link StepAttempt.hops} */
  readonly hops?: number;
  /** {@link StepAttempt.abandon} */
  abandon?(work: RemoteWork): void;
  /**
   * Resolves with the answer; hosts that can be unloaded throw `suspend` instead of waiting.
   *
   * @param scope the path of the scope that asks
   */
  answer(question: Question, scope: string): Promise<{ answer: Answer; time: Moment }>;
}
