import { StateError } from "../errors.ts";
import type { Stateful } from "./stateful.ts";

/** The same object, whose state errors say where in a surrounding state the mistake stands. */
export function statefulAt(path: string, target: Stateful): Stateful {
  return {
    saveState: () => target.saveState(),
    loadState: (state) => within(path, () => target.loadState(state)),
  };
}

/** Runs `load`, whose state errors then say that the mistake stands below `path`. */
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
