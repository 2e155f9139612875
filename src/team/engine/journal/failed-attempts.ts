import {
  estimated,
  type TokensByModel,
  addTokens,
  UNNAMED_MODEL,
} from "../../../contract/usage/model-usage.ts";
import { errorMessage } from "../../../core/errors.ts";
import { ModelError } from "../../../core/models/model-error.ts";
import type { UsageByModel } from "../../../core/models/request-usage.ts";
import { estimateUsage } from "../../../core/models/tokens/estimate.ts";
import type { FailedStep, ModelCallUnderWay } from "../../../core/turn/turn-host.ts";
import { errorType, type TurnTrace } from "../../../telemetry/spans/turn-trace.ts";
import type { StepStore, TracedStep } from "../../storage/runs/step-store.ts";
import type { RunFeed } from "../views/run-feed.ts";
import type { LiveFeed } from "../../stream/live-feed.ts";
import type { JournaledRun } from "./journaled-run.ts";
import { TurnFailures } from "./turn-failures.ts";

/** The place at which a turn failed, and the consequences for a retry. */
export interface TurnFailure {
  /** Path of the step that threw. */
  step: string | null;
  /** Attempts at that step. */
  attempts: number | null;
  /** Recorded steps that a retry runs again. */
  repeat: readonly string[];
}

export interface FailedAttemptsOptions {
  active: JournaledRun;
  live: Pick<LiveFeed, "textOf">;
  feed: Pick<RunFeed, "activitySoon" | "retrying">;
  steps: StepStore;
  trace: TurnTrace;
}

/** The failed attempts at a turn's steps: their cost, the parts of answers that had arrived, and the errors. */
export class FailedAttempts {
  readonly failures: TurnFailures;
  readonly #options: FailedAttemptsOptions;
  /** Steps whose failed attempt was counted by the part of its answer that had arrived. */
  readonly #counted = new Set<string>();
  /** The part of a failed attempt's answer that had arrived, by its step. */
  readonly #discarded = new Map<string, string>();

  constructor(options: FailedAttemptsOptions) {
    this.failures = new TurnFailures(options.steps);
    this.#options = options;
  }

  /** A model call has failed. If a part of its answer arrived, its maker charges for it. */
  countCutOff(key: string): void {
    const { active, live } = this.#options;
    const call = active.calls.get(key);
    const text = call?.messageId && live.textOf(call.messageId);
    if (!call || !text) return;
    active.countSpent(tokensOfCutOff([call], () => text));
    this.#counted.add(key);
  }

  /** A call has used something although its answer is of no use. */
  spent(key: string, usage: UsageByModel): void {
    // The shown part of the answer is counted already.
    if (!this.#counted.delete(key)) this.#options.active.countSpent(usage);
  }

  /** The text shown of a message is void. */
  discard(messageId: string): void {
    const { active, live } = this.#options;
    for (const [key, call] of active.calls) {
      if (call.messageId !== messageId) continue;
      this.countCutOff(key);
      const text = live.textOf(messageId);
      if (text) this.#discarded.set(key, text);
    }
  }

  /** Records that another attempt follows. @returns the step that waits for it */
  waits(
    key: string,
    started: TracedStep | undefined,
    { attempt, failingSince, error }: FailedStep,
    { at, delay }: { at: number; delay: number },
  ): TracedStep {
    const { active, feed, steps, trace } = this.#options;
    this.#countSpent(key, error);
    // Until the next attempt, nothing is under way that could be cut off.
    active.calls.delete(key);
    const text = this.#discarded.get(key);
    this.#discarded.delete(key);
    const nextAt = at + delay;
    const traced = trace.attemptFailed(key, error, { at, nextAt, text });
    feed.activitySoon(active);
    if (delay > 0) {
      feed.retrying({
        step: key,
        agent: trace.agentOf(key),
        attempt,
        error: { type: errorType(error), message: errorMessage(error) },
        next_attempt_at: new Date(nextAt).toISOString(),
      });
    }
    const step = started ?? { kind: "effect", policy: "retry", attempt, fingerprint: "" };
    const waiting = { ...step, failingSince, ...(traced && { trace: traced }) };
    // A short wait, too: a process that dies must not begin again with the attempts and the patience.
    steps.waits(key, waiting, nextAt);
    return waiting;
  }

  /** The step failed finally. */
  threw(key: string, error: unknown): void {
    this.#countSpent(key, error);
    this.failures.threw(key, error);
  }

  /** The failure of the turn by `error`. @param passed steps that have a result, in the order the turn came by them */
  failure(error: unknown, passed: readonly string[]): TurnFailure {
    const { failures } = this;
    const step = failures.failedStep(error);
    const attempts = step === null ? null : this.#options.trace.attemptsOf(step);
    return { step, attempts, repeat: failures.stepsToRepeat(error, passed) };
  }

  /** An attempt has failed with an answer that is of no use. */
  #countSpent(key: string, error: unknown): void {
    if (error instanceof ModelError && error.spent) this.spent(key, error.spent);
    else this.#counted.delete(key);
  }
}

/**
 * The tokens of model calls that were cut off. Their makers charge for them, and no server says what they used: the length of
 * the texts does, roughly.
 *
 * @param textOf what has arrived of a message
 */
export function tokensOfCutOff(
  calls: readonly ModelCallUnderWay[],
  textOf: (messageId: string) => string | undefined,
): TokensByModel {
  return calls
    .map(({ model = UNNAMED_MODEL, input, messageId }): TokensByModel => {
      const text = messageId === undefined ? undefined : textOf(messageId);
      return { [model]: estimated(estimateUsage(input(), text ?? "")) };
    })
    .reduce(addTokens, {});
}
