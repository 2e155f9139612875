import { type Component, dumpComponent } from "../component/component.ts";
import { type Issue, StateError } from "../errors.ts";
import { pathOf } from "../issues.ts";
import type { Stateful } from "./stateful.ts";

/**
 * Moves state to a component that replaces another one of the same team. Objects of the same class at the same place
 * keep their state, with what only a host stores (the positions of replay clients); an object of another class loads
 * the saved state where it fits.
 *
 * @param next a fresh object; it must not be used when there are issues
 * @param blank `previous` without its state: nothing is lost with state that equals it
 * @returns the places of state that does not fit into `next`
 */
export function migrateState(next: Stateful, previous: Stateful, blank: Stateful): Issue[] {
  if (next.migrateFrom) return next.migrateFrom(previous, blank);
  const [mine, theirs] = [next.stateParts?.(), previous.stateParts?.()];
  if (mine === undefined || theirs === undefined || classOf(next) !== classOf(previous)) {
    return migrateSavedState(next, previous, blank);
  }
  const empty = blank.stateParts?.().children ?? {};
  if (theirs.head) mine.head?.load(theirs.head.save());
  const lost = new Set<string>();
  for (const [key, log] of Object.entries(theirs.logs ?? {})) {
    const own = mine.logs?.[key];
    if (own) own.continueFrom(log);
    else if (log.length > 0) lost.add(key);
  }
  const issues = Object.entries(theirs.children ?? {}).flatMap(([key, child]) => {
    const [own, none] = [mine.children?.[key], empty[key]];
    if (own && none) return below(key, migrateState(own, child, none));
    if (none === undefined || holdsState(child, none)) lost.add(key);
    return [];
  });
  return [...issues, ...[...lost].map(noPlace)];
}

/** The same with saved state, in AutoGen's form. */
export function migrateSavedState(next: Stateful, previous: Stateful, blank: Stateful): Issue[] {
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

/** True if an object has state that its component does not begin with. */
export function holdsState(target: Stateful, blank: Stateful): boolean {
  return JSON.stringify(target.saveState()) !== JSON.stringify(blank.saveState());
}

/** True if two components are equal in their component JSON. */
export function isSameComponent(one: Component | null, other: Component | null): boolean {
  const [a, b] = [one && dumpComponent(one), other && dumpComponent(other)];
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The issue of state at a place that the new component does not have. */
export function noPlace(path: string): Issue {
  return { path, message: "has no place in the component" };
}

/** The issues of an inner object, with paths below `key`. */
export function below(key: string, issues: readonly Issue[]): Issue[] {
  return issues.map(({ path, message }) => ({
    path: path === "" ? pathOf([key]) : `${pathOf([key])}.${path}`,
    message,
  }));
}

/** Undefined for objects that are not components: they belong to the component that made them. */
function classOf(target: Stateful & Partial<Component>): string | undefined {
  return target.definition?.provider;
}
