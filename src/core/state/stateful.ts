import type { Issue } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ItemLog } from "./item-log.ts";

/**
 * Anything that has state. `saveState` and `loadState` speak AutoGen's state JSON; what AutoGen forgets goes
 * under the key `troupe`.
 */
export interface Stateful {
  saveState(): JsonObject;
  /** @throws StateError when the state does not fit; then nothing has changed. */
  loadState(state: JsonObject): void;
  /**
   * How a host stores this state piece by piece. Without it the whole of `saveState()` is stored again whenever
   * it has changed, which is fine as long as it stays small.
   */
  stateParts?(): StateParts;
  /**
   * Goes on where another object stood, in whose place it was put. Without it: as `takeOver` in `take-over.ts` says.
   *
   * @param blank `previous` without its state
   * @returns the places of what has no place here; then the object must not be used
   */
  takeOver?(previous: Stateful, blank: Stateful): Issue[];
}

/** The pieces of an object's state. Keys are path segments, stable over restarts. */
export interface StateParts {
  /** Small JSON that is stored whole whenever it has changed. */
  head?: { save(): Json; load(value: Json): void };
  /** Lists that only grow. */
  logs?: { readonly [name: string]: ItemLog<unknown> };
  children?: { readonly [name: string]: Stateful };
}
