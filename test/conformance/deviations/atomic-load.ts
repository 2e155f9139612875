import { isJsonObject } from "#core/json.ts";
import { sameJson } from "../trace.ts";
import { mentions, type Place, type Recogniser } from "./place.ts";

/**
 * Deviation `atomic-load`: AutoGen has loaded a part of a state when it refuses it, and continues with that. Troupe saves
 * what it saved before, which is checked where the trace has a state from before.
 */
export const ATOMIC_LOAD: Recogniser = {
  class: "atomic-load",
  explains: (place) => {
    const { step, played, before } = place;
    const since = before.slice(before.findLastIndex(replacesAll) + 1);
    if (played.error?.code === null || !since.some(isHalfLoaded)) return false;
    if (step.op !== "save_state") return step.op === "run" || step.op === "call_tool";
    const saved = since.findLastIndex(({ step: { op } }) => op === "save_state");
    const unchanged = since
      .slice(saved + 1)
      .every((one) => KEEPS.has(one.step.op) || isRefused(one));
    const last = since[saved]?.played.actual["state"];
    return saved < 0 || !unchanged || sameJson(last ?? null, played.actual["state"] ?? null);
  },
};

/** Steps that change no subject. */
const KEEPS: ReadonlySet<string> = new Set(
  "component list_tools message structured wait".split(" "),
);

/** Whether nothing is left after a step of what was loaded before. */
function replacesAll({ step: { op, error }, played }: Place): boolean {
  if (op === "new" || op === "use" || op === "reset") return true;
  return op === "load_state" && error === undefined && played.error === undefined;
}

function isRefused({ step, played }: Place): boolean {
  return step.op === "load_state" && step["error"] !== undefined && played.error !== undefined;
}

/** Whether both refused a state, and AutoGen may have loaded some of its parts before it came to the wrong one. */
function isHalfLoaded(place: Place): boolean {
  return (
    isRefused(place) &&
    place.played.error?.code !== null &&
    mentions(place.step["state"], ({ agent_states, tools }) =>
      [agent_states, tools].some((parts) => isJsonObject(parts) && Object.keys(parts).length > 0),
    )
  );
}
