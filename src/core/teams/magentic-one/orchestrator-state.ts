import * as z from "zod";
import type { JsonObject } from "../../json.ts";
import { parseState, stateSchemaOf } from "../../state/load-state.ts";
import { type LedgerEntry, ledgerSchema } from "./progress-ledger.ts";

const stateSchema = stateSchemaOf("MagenticOneOrchestratorState").extend({
  task: z.string().default(""),
  facts: z.string().default(""),
  plan: z.string().default(""),
  n_rounds: z.number().int().nonnegative().default(0),
  n_stalls: z.number().int().nonnegative().default(0),
  troupe: z
    .object({
      next: z.enum(["task", "plan", "work", "replan"]).optional(),
      entry: ledgerSchema.optional(),
    })
    .optional(),
});

/** The orchestrator's state: the task ledger and the progress of the work. */
export type OrchestratorState = {
  task: string;
  facts: string;
  plan: string;
  /** Progress ledgers since the team was made or reset, over all its runs. */
  rounds: number;
  /** Goes up with each ledger that sees no progress, down with each that does. */
  stalls: number;
  /** The subject of its next decision; `task`: it waits for a task. */
  next: "task" | "plan" | "work" | "replan";
  /** The last progress ledger of the task; null before the first. */
  entry: LedgerEntry | null;
};

export const NEW_STATE: OrchestratorState = {
  task: "",
  facts: "",
  plan: "",
  rounds: 0,
  stalls: 0,
  next: "task",
  entry: null,
};

/** AutoGen's `MagenticOneOrchestratorState`, without the thread. */
export function writeState(state: OrchestratorState): JsonObject {
  return {
    type: "MagenticOneOrchestratorState",
    version: "1.0.0",
    task: state.task,
    facts: state.facts,
    plan: state.plan,
    n_rounds: state.rounds,
    n_stalls: state.stalls,
    troupe: { next: state.next, ...(state.entry && { entry: state.entry }) },
  };
}

/** @throws StateError */
export function readState(json: JsonObject): OrchestratorState {
  const state = parseState(stateSchema, json, "a MagenticOne state");
  const { task, facts, plan, n_rounds, n_stalls, troupe } = state;
  const { next = "task", entry = null } = troupe ?? {};
  return { task, facts, plan, rounds: n_rounds, stalls: n_stalls, next, entry };
}
