import { type Kill, nameOf } from "./harness/kill.ts";
import type { Random } from "./harness/random.ts";
import { type Outcome, type Spectator, SPECTATORS } from "./harness/trial.ts";
import type { WriteMode } from "./worker/protocol.ts";

/** One way to kill a run: the sequence of kills and the spectator. */
export interface Plan {
  kills: readonly Kill[];
  spectator: Spectator;
}

const MODES: readonly WriteMode[] = ["lost", "durable"];

/** Kinds of plans that were tried already, over all scenarios: plans are of one kind that begin with a kill at the same point. */
export type Tried = Set<string>;

/**
 * Where a run is killed that went like `reference` without kills: at its writes, before they are durable and just
 * after, at what the model and the tools see, and a second time while it recovers from the first.
 */
export function allPlans(reference: Outcome): Plan[] {
  const plans: Kill[][] = [];
  for (const [label, count] of reference.writes) {
    for (let occurrence = 1; occurrence <= count; occurrence++) {
      for (const mode of MODES) plans.push([{ at: "write", label, occurrence, mode }]);
    }
    // Again at the same place while it recovers, or a little later.
    const lost: Kill = { at: "write", label, occurrence: 1, mode: "lost" };
    const durable: Kill = { ...lost, mode: "durable" };
    plans.push([lost, lost], [durable, lost], [durable, { at: "time", ms: 30 }, lost]);
  }
  for (let occurrence = 1; occurrence <= reference.requests.length; occurrence++) {
    for (const state of ["received", "streaming", "replied"] as const)
      plans.push([{ at: "model", state, occurrence }]);
  }
  if (reference.requests.length > 0) {
    const streaming: Kill = { at: "model", state: "streaming", occurrence: 1 };
    plans.push([streaming, streaming, streaming]);
  }
  for (let occurrence = 1; occurrence <= reference.effects.length; occurrence++) {
    plans.push([{ at: "effect", occurrence }]);
  }
  return plans.map((kills, index) => ({
    kills,
    spectator: SPECTATORS[index % SPECTATORS.length] ?? "absent",
  }));
}

/** A selection: one plan of each kind that was not tried yet, and `more` others. */
export function somePlans(
  plans: readonly Plan[],
  more: number,
  tried: Tried,
  random: Random,
): Plan[] {
  const chosen: Plan[] = [];
  const others: Plan[] = [];
  for (const plan of plans.toSorted(() => random.next() - 0.5)) {
    const kind = plan.kills.slice(0, 1).map(nameOf).join().replaceAll(/ #\d+/g, "");
    if (tried.has(kind)) others.push(plan);
    else chosen.push(plan);
    tried.add(kind);
  }
  return [...chosen, ...others.slice(0, more)];
}
