import { type Component, dumpComponent } from "../component/component.ts";
import { type Issue, StateError } from "../errors.ts";
import { pathOf } from "../issues.ts";
import type { Stateful } from "./stateful.ts";

/**
 * Lets an object go on where another stood, in whose place it was put: another component of the same team. What the two
 * have in common by class and place goes on as it is, with what only a host stores (the positions of replay clients);
 * an object of another class loads the state of the other where it can.
 *
 * @param next with nothing in it yet; not to be used when there are issues
 * @param blank `previous` without its state: nothing is lost with what equals it
 * @returns the places of the state that have no place in `next`
 */
export function takeOver(next: Stateful, previous: Stateful, blank: Stateful): Issue[] {
  if (next.takeOver) return next.takeOver(previous, blank);
  const [mine, theirs] = [next.stateParts?.(), previous.stateParts?.()];
  if (mine === undefined || theirs === undefined || classOf(next) !== classOf(previous)) {
    return takeOverState(next, previous, blank);
  }
  const empty = blank.stateParts?.().children ?? {};
  if (theirs.head) mine.head?.load(theirs.head.save());
  const lost = new Set<string>();
  for (const [key, log] of Object.entries(theirs.logs ?? {})) {
    const own = mine.logs?.[key];
    if (own) own.takeOver(log);
    else if (log.length > 0) lost.add(key);
  }
  const issues = Object.entries(theirs.children ?? {}).flatMap(([key, child]) => {
    const [own, none] = [mine.children?.[key], empty[key]];
    if (own && none) return below(key, takeOver(own, child, none));
    if (none === undefined || holdsState(child, none)) lost.add(key);
    return [];
  });
  return [...issues, ...[...lost].map(noPlace)];
}

/** The same by what the objects save, in AutoGen's form. */
export function takeOverState(next: Stateful, previous: Stateful, blank: Stateful): Issue[] {
  if (!holdsState(previous, blank)) return [];
  const state = previous.saveState();
  const [given, wanted] = [state["type"], next.saveState()["type"]];
  if (typeof given === "string" && typeof wanted === "string" && given !== wanted) {
    return [{ path: "type", message: `is "${given}"; it must be "${wanted}"` }];
  }
  try {
    next.loadState(state);
    return [];
  } catch (error) {
    if (!(error instanceof StateError)) throw error;
    return error.issues.length > 0 ? error.issues : [{ path: "", message: error.message }];
  }
}

/** Whether there is anything in an object that its component does not put there. */
export function holdsState(target: Stateful, blank: Stateful): boolean {
  return JSON.stringify(target.saveState()) !== JSON.stringify(blank.saveState());
}

/** Whether two components are the same in all that can be written as component JSON. */
export function isSameComponent(one: Component | null, other: Component | null): boolean {
  const [a, b] = [one && dumpComponent(one), other && dumpComponent(other)];
  return JSON.stringify(a) === JSON.stringify(b);
}

/** What stands at a place of the previous state and has none in the new one. */
export function noPlace(path: string): Issue {
  return { path, message: "has no place in the component" };
}

/** Issues of an object as those of the object around it, in which it stands under `key`. */
export function below(key: string, issues: readonly Issue[]): Issue[] {
  return issues.map(({ path, message }) => ({
    path: path === "" ? pathOf([key]) : `${pathOf([key])}.${path}`,
    message,
  }));
}

/** Objects that are no components themselves belong to whatever makes them. */
function classOf(target: Stateful & Partial<Component>): string | undefined {
  return target.definition?.provider;
}
