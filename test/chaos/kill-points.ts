import type { Kill } from "./harness/kill.ts";
import type { Outcome, Spectator } from "./harness/trial.ts";
import type { WriteMode } from "./worker/protocol.ts";

/** One way to kill a run: the kills in turn, and who looks on. */
export interface Plan {
  kills: readonly Kill[];
  spectator: Spectator;
}

const MODES: readonly WriteMode[] = ["lost", "durable"];
const SPECTATORS: readonly Spectator[] = ["absent", "leaves", "stays"];

/**
 * Where a run is killed that went like `reference` without kills: at its writes, before they are durable and just
 * after, at what the model and the tools see, and a second time while it recovers from the first.
 *
 * @param every whether at each occurrence of each write, or only at the first and the last of each kind
 */
export function killPlans(reference: Outcome, every: boolean): Plan[] {
  const plans: Kill[][] = [];
  for (const [label, count] of reference.writes) {
    for (const occurrence of occurrences(count, every)) {
      for (const mode of MODES) plans.push([{ at: "write", label, occurrence, mode }]);
    }
    // Again at the same place while it recovers, and right when it begins to.
    const again: Kill = { at: "write", label, occurrence: 1, mode: "lost" };
    plans.push([again, again]);
    if (every) {
      plans.push([{ ...again, mode: "durable" }, again]);
      plans.push([{ ...again, mode: "durable" }, { at: "time", ms: 30 }, again]);
    }
  }
  for (const occurrence of occurrences(reference.requests.length, every)) {
    for (const state of ["received", "streaming", "replied"] as const)
      plans.push([{ at: "model", state, occurrence }]);
  }
  if (reference.requests.length > 0) {
    const streaming: Kill = { at: "model", state: "streaming", occurrence: 1 };
    plans.push([streaming, streaming, streaming]);
  }
  for (const occurrence of occurrences(reference.effects.length, true)) {
    plans.push([{ at: "effect", occurrence }]);
  }
  return plans.map((kills, index) => ({
    kills,
    spectator: SPECTATORS[index % SPECTATORS.length] ?? "absent",
  }));
}

function occurrences(count: number, every: boolean): number[] {
  if (every) return Array.from({ length: count }, (_, index) => index + 1);
  return [...new Set([1, count])].filter((occurrence) => occurrence > 0);
}
