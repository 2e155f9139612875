import { isJsonObject, type Json } from "../../json.ts";
import type { OrchestratorState } from "./orchestrator-state.ts";

/** The path of the task ledger in the state of a team: a part of its own, because it is long and changes seldom. */
export const TASK_LEDGER = "MagenticOneOrchestrator/task_ledger";

/** The task ledger in stored or visible state; undefined where there is none. */
export function taskLedgerIn(
  state: Json | undefined,
): Pick<OrchestratorState, "facts" | "plan"> | undefined {
  if (!isJsonObject(state)) return undefined;
  const { facts, plan } = state;
  return typeof facts === "string" && typeof plan === "string" ? { facts, plan } : undefined;
}

type Progress = Pick<OrchestratorState, "rounds" | "stalls" | "next" | "entry">;

/** The progress ledger in the head of a team's manager, or in its visible state; undefined for another manager. */
export function progressLedgerIn(state: Json | undefined): Progress | undefined {
  if (!isJsonObject(state)) return undefined;
  const { rounds, stalls, next, entry } = state;
  const isLedger = typeof rounds === "number" && typeof stalls === "number" && entry !== undefined;
  // The orchestrator has written it.
  return isLedger ? ({ rounds, stalls, next, entry } as Progress) : undefined;
}
