import { type Issue, StateError } from "../errors.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ItemLog } from "./item-log.ts";

/**
 * An object with state. `saveState` and `loadState` use AutoGen's state JSON; what AutoGen does not save is under the
 * key `troupe`.
 */
export interface Stateful {
  saveState(): JsonObject;
  /** @throws StateError when the state does not fit; then nothing has changed. */
  loadState(state: JsonObject): void;
  /**
   * The pieces in which a host stores this state. Without it `saveState()` is stored as a whole whenever it has
   * changed, which is fine while it is small.
   */
  stateParts?(): StateParts;
  /**
   * Takes the state of the object that this one replaces. Default: as `migrateState` does.
   *
   * @param blank `previous` without its state
   * @returns the places of state that does not fit here; then the object must not be used
   */
  migrateFrom?(previous: Stateful, blank: Stateful): Issue[];
}

/** The pieces of an object's state. Keys are path segments, stable over restarts. */
export interface StateParts {
  /** Small JSON that is stored whole whenever it has changed. */
  head?: { save(): Json; load(value: Json): void };
  /** Lists that only grow. */
  logs?: { readonly [name: string]: ItemLog<unknown> };
  children?: { readonly [name: string]: Stateful };
}

/** An object and all that its state is made of, by their paths. */
export function* partsOf(root: Stateful, path = ""): Generator<[string, Stateful]> {
  yield [path, root];
  for (const [key, child] of Object.entries(root.stateParts?.().children ?? {})) {
    yield* partsOf(child, `${path}:${key}`);
  }
}

/** True if an object has anything to store: an object with `stateParts` may have no parts. */
export function hasState(target: Stateful): boolean {
  const parts = target.stateParts?.();
  if (parts === undefined || parts.head !== undefined) return true;
  if (Object.keys(parts.logs ?? {}).length > 0) return true;
  return Object.values(parts.children ?? {}).some(hasState);
}

/** Runs `load`; state errors that it throws get paths below `path`. */
export function within<T>(path: string, load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    const issues = error.issues.map((issue) => ({
      path: issue.path === "" ? path : `${path}.${issue.path}`,
      message: issue.message,
    }));
    throw new StateError(`${path}: ${error.message}`, { issues, cause: error });
  }
}
