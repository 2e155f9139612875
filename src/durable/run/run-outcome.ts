import { errorMessage, TroupeError } from "../../core/errors.ts";
import { addUsage } from "../../core/models/llm-messages.ts";
import { failingAgent } from "../../core/run/failing-agent.ts";
import { type ActiveRun, runInfo } from "./active-run.ts";
import type { RecordedEvent } from "../storage/event-log.ts";
import type { RunRecord } from "../storage/run-store.ts";
import type { Stores } from "../storage/stores.ts";

/** It stands in the run's row, and with that in every frame and list that shows the run. */
const LONGEST_MESSAGE = 10_000;

/** How a run ends. */
export type Outcome =
  | { status: "completed"; stopReason: string | null }
  | { status: "cancelled" }
  | {
      status: "failed";
      error: unknown;
      /** Path of the step that threw, if one did. */
      step?: string | null;
    };

/** Where a turn begins: its number within the run and the team's life, its time, and the cursor before its first event. */
export type TurnStart = Pick<ActiveRun, "next" | "turn" | "started" | "event">;

/**
 * Writes a run's outcome and its terminal event; to be called inside a transaction, after the turn's events. Open
 * questions close; recorded steps stay for a retry.
 *
 * @param start the turn a retry would begin with
 */
export function writeOutcome(
  stores: Stores,
  active: ActiveRun,
  outcome: Outcome,
  start: TurnStart,
): RecordedEvent {
  const { log, questions, runs, team } = stores;
  const { record, stored, turn } = active;
  record.usage = active.usage;
  record.next_turn = start.next;
  record.turn = start.turn - 1;
  record.last_turn = { started: start.started, event: start.event };
  record.status = outcome.status;
  record.pause_requested = false;
  record.wake_at = null;
  record.rest_since = null;
  record.ended_at = new Date().toISOString();
  record.stop_reason = outcome.status === "completed" ? outcome.stopReason : null;
  record.error = outcome.status === "failed" ? describe(outcome, turn) : null;
  questions.closeOpen(record.id);
  record.last_event = log.last + 1;
  const event = ((): RecordedEvent => {
    switch (outcome.status) {
      case "completed":
        return log.append(stored.seq, turn, "result", null, resultBody(stores, active));
      case "failed":
        return log.append(stored.seq, turn, "failed", null, failedBody(active));
      case "cancelled": {
        const body = JSON.stringify(runInfo(stores, stored));
        return log.append(stored.seq, turn, "cancelled", null, body);
      }
    }
  })();
  runs.update(stored);
  team.save({ usage: addUsage(team.record.usage, record.usage) });
  return event;
}

function resultBody({ log }: Stores, { record }: ActiveRun): string {
  const message_ids = [...log.result(record.first_event, log.last)].map(({ id }) => id);
  const { stop_reason, usage } = record;
  return JSON.stringify({ type: "TaskResult", stop_reason, usage, message_ids });
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
  });
}

/** Our errors have a stable code; what agents and tools throw has none. */
function describe(
  { error, step = null }: Outcome & { status: "failed" },
  turn: number,
): RunRecord["error"] {
  const type = error instanceof TroupeError ? error.code : "run_failed";
  const message = errorMessage(error);
  return {
    type,
    message: message.length <= LONGEST_MESSAGE ? message : `${message.slice(0, LONGEST_MESSAGE)}…`,
    agent: failingAgent(error),
    turn,
    step,
  };
}
