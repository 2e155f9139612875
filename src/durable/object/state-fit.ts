import { type Issue, StateError } from "../../core/errors.ts";
import { listIssues } from "../../core/issues.ts";
import type { JsonObject } from "../../core/json.ts";

/**
 * Refuses a state of another kind of object. Loading would take what it knows from it, as AutoGen does, and silently
 * drop the rest: a whole conversation where a team's state meets a single agent.
 *
 * @param own what the object that is to load it saves
 * @throws StateError
 */
export function requireKind({ type: given }: JsonObject, { type: wanted }: JsonObject): void {
  if (typeof given !== "string" || typeof wanted !== "string" || given === wanted) return;
  const message = `is ${JSON.stringify(given)}; it must be ${JSON.stringify(wanted)}`;
  requireNone([{ path: "type", message }]);
}

/** @throws StateError naming every place that does not fit */
export function requireNone(issues: Issue[]): void {
  if (issues.length === 0) return;
  throw new StateError(`the state does not fit this team: ${listIssues(issues)}`, { issues });
}
