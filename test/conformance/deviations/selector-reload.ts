import type { Trace } from "../trace.ts";
import { isProvider, mentions } from "./place.ts";

/**
 * Deviation `selector-reload`: in AutoGen a state that is loaded adds its conversation to what a selector remembers
 * already. Whether this may show in a step: the team had a conversation, or a state, when a state was loaded.
 */
export function addedHistory({ component, steps }: Trace, index: number): boolean {
  let used = false;
  let added = false;
  let selects = component !== undefined && hasSelector(component);
  for (const { op, component: next } of steps.slice(0, index)) {
    if (op === "new" || op === "use" || op === "reset") {
      used = false;
      added = false;
      if (next !== undefined) selects = hasSelector(next);
    }
    if (op === "load_state") added ||= used;
    if (op === "load_state" || op === "run") used = true;
  }
  return added && selects;
}

/** Whether a prompt is the recorded one without something in its midst. */
export function lacksPart(expected: string, actual: string): boolean {
  if (actual.length >= expected.length) return false;
  let start = 0;
  while (start < actual.length && actual[start] === expected[start]) start++;
  return expected.endsWith(actual.slice(start));
}

function hasSelector(component: Parameters<typeof mentions>[0]): boolean {
  return mentions(component, isProvider("SelectorGroupChat"));
}
