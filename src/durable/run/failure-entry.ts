import type { LogEntry } from "../../core/log.ts";
import { traceIdOf } from "../../telemetry/trace-context.ts";
import type { Stores } from "../storage/stores.ts";
import type { ActiveRun } from "./active-run.ts";

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
