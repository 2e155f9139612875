import type { JsonObject } from "../json.ts";
import type { Stateful } from "./stateful.ts";

/**
 * Loads several states, or none of them: when one does not fit, those loaded before get back what they had.
 *
 * @throws StateError
 */
export function loadAll(states: readonly (readonly [Stateful, JsonObject])[]): void {
  const before: [Stateful, JsonObject][] = [];
  try {
    for (const [target, state] of states) {
      if (states.length > 1) before.push([target, target.saveState()]);
      target.loadState(state);
    }
  } catch (error) {
    before.pop();
    for (const [target, state] of before.toReversed()) target.loadState(state);
    throw error;
  }
}
