import { beginningOf } from "../../core/cut.ts";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import type { LogEntry } from "../../core/log.ts";
import { addCosts, totalCost } from "../../contract/usage/model-usage.ts";
import { type StoredSpans, storeSpans } from "../../telemetry/spans/stored-spans.ts";
import type { Moment } from "../../core/turn/turn-host.ts";
import { traceIdOf } from "../../telemetry/spans/trace-context.ts";
import type { RunResultFrame } from "../../contract/stream/stream-frame.ts";
import { addUsage } from "../../core/models/request-usage.ts";
import { failingAgent } from "../../core/run/failing-agent.ts";
import { runInfo } from "./views/run-info.ts";
import type { ActiveRun } from "./active-run.ts";
import type { RecordedEvent } from "../storage/log/event-log.ts";
import { partOf, type RemoteWork, workLeftIn } from "../../core/steps/remote-work.ts";
import { keepSteps } from "../storage/log/kept-steps.ts";
import type { RunRecord } from "../storage/runs/run-record.ts";
import type { Stores } from "../storage/stores.ts";
import { tokensOfCutOff } from "./journal/failed-attempts.ts";
import { ended } from "./run-state.ts";

/** The message is part of the run's row, and so of every frame and list that shows the run. */
const LONGEST_MESSAGE = 10_000;

/** The end of a run. */
export type Outcome =
  | { status: "completed"; stopReason: string | null }
  | { status: "cancelled" }
  | {
      status: "failed";
      error: unknown;
      /** Path of the step that threw, if one did. */
      step?: string | null;
      /** Attempts at that step. */
      attempts?: number | null;
    };

/** The end of a run as it was written: the retraction of messages and the terminal event. */
export interface RunEnd {
  outcome: Outcome;
  retract: RecordedEvent | undefined;
  terminal: RecordedEvent;
}

/** The beginning of a turn, its numbers and its time, and what the run has used until then. */
export type TurnStart = Pick<ActiveRun, "turnOfRun" | "turnOfTeam" | "turnStarted" | "usage"> & {
  /** Milliseconds that the run was running. */
  ran: number;
  /** The spans of a turn that is given up. */
  spans?: StoredSpans;
  /** Its steps, as {@link keepSteps} writes them. */
  steps?: string | undefined;
};

/**
 * Writes a run's outcome and its terminal event, inside a transaction, after the turn's events and when its open questions are
 * closed. Recorded steps stay for a retry.
 *
 * @param start the turn a retry begins with
 */
export function writeOutcome(
  stores: Stores,
  active: ActiveRun,
  outcome: Outcome,
  start: TurnStart,
): RecordedEvent {
  const { log, runs, team } = stores;
  const { record, turnOfTeam } = active;
  const { usage, models } = start.usage;
  const { turnOfRun, turnOfTeam: next, turnStarted, ran, spans } = start;
  const end =
    outcome.status === "failed"
      ? { status: outcome.status, error: describe(outcome, turnOfTeam) }
      : outcome;
  active.become(
    ended(record, end, {
      at: new Date().toISOString(),
      ran,
      event: log.last + 1,
      lastTurn: { started: turnStarted, ...(spans && { spans }) },
      counted: { usage, models, next_turn: turnOfRun, turn: next - 1 },
    }),
  );
  const { stored } = active;
  const event = ((): RecordedEvent => {
    switch (outcome.status) {
      case "completed":
        return log.append(stored.seq, turnOfTeam, "result", null, resultBody(stores, active));
      case "failed":
        return log.append(stored.seq, turnOfTeam, "failed", null, failedBody(active));
      case "cancelled": {
        const body = JSON.stringify(runInfo(stores, stored, active.task));
        return log.append(stored.seq, turnOfTeam, "cancelled", null, body);
      }
    }
  })();
  runs.end(stored, start.steps);
  stores.approvals.endRun(record.id);
  const { usage: before, cost = null } = team.record;
  team.save({ usage: addUsage(before, usage), cost: addCosts(cost, totalCost(models)) });
  active.announce();
  return event;
}

function resultBody({ log }: Stores, { record }: ActiveRun): string {
  const message_ids = log.resultIds(record.first_event, record.last_event ?? log.last);
  const { stop_reason, usage } = record;
  const result: RunResultFrame = { type: "TaskResult", stop_reason, usage, message_ids };
  return JSON.stringify(result);
}

/** The problem document of a failed run. */
function failedBody({ record }: ActiveRun): string {
  const code = record.error?.type ?? "run_failed";
  return JSON.stringify({
    type: `urn:troupe:problem:${code}`,
    title: "The run failed",
    status: code.startsWith("model_") ? 502 : 500,
    detail: record.error?.message ?? "",
    code,
    run_id: record.id,
    ...(record.error?.agent != null && { agent: record.error.agent }),
  });
}

/** Errors of this library have a stable code; those of agents and tools do not. */
function describe(
  { error, step = null, attempts = null }: Outcome & { status: "failed" },
  turn: number,
): NonNullable<RunRecord["error"]> {
  const type = error instanceof TroupeError ? error.code : "run_failed";
  const message = errorMessage(error);
  return {
    type,
    message:
      message.length <= LONGEST_MESSAGE ? message : `${beginningOf(message, LONGEST_MESSAGE)}…`,
    agent: failingAgent(error),
    turn,
    step,
    attempts,
  };
}

/**
 * Ends the run in the middle of a turn: gives the turn up and writes the outcome, all or nothing. The turn's messages are
 * retracted.
 *
 * @param end `repeat`: recorded steps that a retry has to run again
 * @param textOf what has arrived of a message
 */
export function giveUp(
  stores: Stores,
  active: ActiveRun,
  {
    outcome,
    repeat,
    time: { at, ran },
  }: { outcome: Outcome; repeat: readonly string[]; time: Moment },
  textOf: (message: string) => string | undefined,
): RunEnd {
  return stores.db.transaction(() => {
    const spans = storeSpans(active.spans(at), active.turnStarted.at) ?? [];
    const steps = keepSteps(stores.steps.entries(), stores.log.references);
    const left = workLeftIn(stores.steps.entries(), repeat);
    stores.remoteWork.leave(left, active.turnOfTeam);
    active.discardSteps([...repeat, ...stepsOf(left, stores)]);
    const cutOff = [...active.calls.values()];
    if (cutOff.length > 0) active.countSpent(tokensOfCutOff(cutOff, textOf));
    const retract = active.events.retractAll();
    const { turnOfRun, turnOfTeam, turnStarted, usage } = active;
    stores.questions.closeOpen(active.record.id);
    const terminal = writeOutcome(stores, active, outcome, {
      turnOfRun,
      turnOfTeam,
      turnStarted,
      usage,
      ran,
      spans,
      steps,
    });
    return { outcome, retract, terminal };
  });
}

/** The steps of work that is cancelled: a retry begins it again. */
function stepsOf(left: readonly RemoteWork[], { steps }: Stores): string[] {
  return left.flatMap((work) => steps.keys().filter(partOf(work)));
}

/** The log's entry for a run that has just failed. @param error what was thrown */
export function failureEntry({ team }: Stores, { record }: ActiveRun, error: unknown): LogEntry {
  const { type = "run_failed", agent = null, turn = null, step = null } = record.error ?? {};
  return {
    event: "run_failed",
    team: team.record.id,
    run: record.id,
    trace: traceIdOf(record.id, record.trace?.context),
    agent,
    turn,
    step,
    class: className(error),
    code: type,
  };
}

function className(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return error.name === "Error" ? error.constructor.name : error.name;
}
