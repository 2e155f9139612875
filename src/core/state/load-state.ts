import * as z from "zod";
import { StateError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import type { JsonObject } from "../json.ts";
import { type Stateful, within } from "./stateful.ts";

/** The keys that every saved state begins with (AutoGen `BaseState`). Old states may lack both. */
export const baseStateSchema = z.object({
  type: z.string().optional(),
  version: z.string().optional(),
});

/** The same for a class whose states have a `type` of their own; the state of another class is refused. */
export function stateSchemaOf<Type extends string>(type: Type) {
  return baseStateSchema.extend({
    type: z
      .literal(type, {
        error: ({ input }) => `must be "${type}", not ${JSON.stringify(input)}`,
      })
      .optional(),
  });
}

/**
 * Parses a saved state.
 *
 * @param what the state it must be, for the error: `the state of "writer"`
 * @throws StateError with an issue for each place that does not fit `schema`
 */
export function parseState<T>(schema: z.ZodType<T>, state: unknown, what: string): T {
  const { data, error } = schema.safeParse(state);
  if (error === undefined) return data;
  const issues = issuesOf(error);
  throw new StateError(`not ${what}: ${listIssues(issues)}`, { issues });
}

/**
 * Loads several states, or none of them: when one does not fit, the others are put back.
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

/** The same object, whose state errors have paths below `path`. */
export function statefulAt(path: string, target: Stateful): Stateful {
  return {
    saveState: () => target.saveState(),
    loadState: (state) => within(path, () => target.loadState(state)),
  };
}
