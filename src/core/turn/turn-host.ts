import type { Json, JsonObject } from "../json.ts";
import type { MemoryHost } from "../memory/memory-host.ts";
import type { AnswerForm, ToolSchema } from "../models/chat-completion-client.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { ServerLogins } from "../steps/server-logins.ts";
import type {
  StepCache,
  StepKind,
  StepPolicy,
  StepSubject,
  TraceContext,
} from "../steps/step-attempt.ts";
import type { Answer, Question, RequestOfStep, ScopeSubject } from "./turn-context.ts";

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
}

/** The record of a step. Without an outcome, the step had started when the host died. */
export interface StepRecord {
  kind: StepKind;
  policy: StepPolicy;
  attempt: number;
  /** When the first attempt failed, epoch milliseconds; undefined if none has failed. */
  failingSince?: number;
  fingerprint: string;
  subject?: StepSubject;
  outcome?: StepOutcome;
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
  /** {@link TurnContext.clientTools} */
  readonly clientTools?: readonly ToolSchema[];
  /** {@link TurnContext.answerForm} */
  readonly answerForm?: AnswerForm | undefined;
  readonly cache?: StepCache;
  /** {@link TurnContext.memory}. Without it nothing is remembered. */
  readonly memory?: MemoryHost;
  /** {@link StepAttempt.session} */
  readonly session?: string;
  /** {@link StepAttempt.logins} */
  readonly logins?: ServerLogins | undefined;
  clock(): Moment;
  /** Throws a {@link TurnSignal} when no effect may start. */
  gate(): void;
  /** Waits while the run is paused. Hosts that record steps pause with a signal from `gate` instead. */
  ready?(): Promise<void>;
  recall(key: string): StepRecord | undefined;
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
  /** Only on hosts that show requests instead of making them: throws in the place of each effect. @param request a model's */
  shows?(key: string, request: RequestOfStep | undefined): never;
  /** {@link StepAttempt.trace} */
  traceContext?(key: string): TraceContext | undefined;
  /**
   * Resolves with the answer; hosts that can be unloaded throw `suspend` instead of waiting.
   *
   * @param scope the path of the scope that asks
   */
  answer(question: Question, scope: string): Promise<{ answer: Answer; time: Moment }>;
}
