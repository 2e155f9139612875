import { readFileSync } from "node:fs";
import * as z from "zod";
import { type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { ATOMIC_LOAD } from "./deviations/atomic-load.ts";
import { withoutChunks } from "./deviations/chunks.ts";
import { GRAPHS } from "./deviations/graphs.ts";
import { withoutHiddenTask } from "./deviations/hidden-task.ts";
import { LOADING } from "./deviations/loading.ts";
import { isTeam, type Place } from "./deviations/place.ts";
import { RUNNING } from "./deviations/running.ts";
import { CONTEXTS } from "./deviations/whole-exchanges.ts";
import type { Played } from "./host.ts";
import type { Step } from "./trace.ts";

const listSchema = z.array(
  z.strictObject({
    trace: z.string(),
    step: z.number(),
    class: z.string(),
    differs: z.array(z.string()).min(1).optional(),
  }),
);

/**
 * A place where Troupe differs from the recording on purpose. `differs` names what does: paths as failures show them
 * (`events[3..]`: from there on), and `model_calls` of the step, or those from one on (`model_calls[2..]`). Everything else
 * in the step must be as recorded. Left out where the class itself says what must be equal instead.
 */
export type Deviation = z.infer<typeof listSchema>[number];

/** The places known by trace and step. */
export function readDeviations(): Deviation[] {
  const file = new URL("deviations.json", import.meta.url);
  return listSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** A deviation that is in the recording itself: what is left after the rewriting must be equal. */
export interface Rewriting {
  class: string;
  rewrite(step: Step, subject: JsonObject | undefined): Step;
}

export const REWRITINGS: readonly Rewriting[] = [
  { class: "hidden-task", rewrite: withoutHiddenTask },
  { class: "chunks", rewrite: withoutChunks },
];

/**
 * The class of deviation that explains why a step differs, if one is clear from the step and what came before it.
 * Each recogniser accepts exactly what its class says and nothing else.
 */
export function recognise(place: Place): string | undefined {
  return [...LOADING, ATOMIC_LOAD, ...RUNNING, ...GRAPHS, ...CONTEXTS].find((recogniser) =>
    recogniser.explains(place),
  )?.class;
}

/**
 * Whether a run failed in its midst, as it should. AutoGen's team is then left half-way and does not run again, or
 * drains what is left; Troupe's is where its last turn ended (deviation `after-error`).
 */
export function leavesApart({ step, played, subject }: Place): boolean {
  const { error } = step;
  if (step.op !== "run" || !isJsonObject(error) || played.error === undefined) return false;
  if (played.error.code === "invalid_task") return false;
  return error["type"] === "RuntimeError" || !isTeam(subject);
}

/** Whether a step failed in a way that nothing in a trace can be the reason of. */
export function isBroken({ error }: Played): boolean {
  if (error === undefined) return false;
  return error.code === null || BROKEN.has(error.code);
}

const BROKEN: ReadonlySet<string> = new Set(["internal", "already_running"]);
