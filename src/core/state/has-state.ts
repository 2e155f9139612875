import type { Stateful } from "./stateful.ts";

/** Whether there is anything to store of an object: one that lists its parts may have none. */
export function hasState(target: Stateful): boolean {
  const parts = target.stateParts?.();
  if (parts === undefined || parts.head !== undefined) return true;
  if (Object.keys(parts.logs ?? {}).length > 0) return true;
  return Object.values(parts.children ?? {}).some(hasState);
}
