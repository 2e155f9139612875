import { type Issue, StateError } from "../../core/errors.ts";
import { listIssues } from "../../core/issues.ts";
import type { JsonObject } from "../../core/json.ts";

/**
 * Refuses the saved state of another kind of object. Loading takes the fields it knows, as AutoGen does, and would silently
 * drop the rest: a whole conversation, when a team's state is loaded into a single agent.
 *
 * @throws StateError
 */
export function requireKind({ type: given }: JsonObject, { type: wanted }: JsonObject): void {
  if (typeof given !== "string" || typeof wanted !== "string" || given === wanted) return;
  const message = `is ${JSON.stringify(given)}; it must be ${JSON.stringify(wanted)}`;
  requireNone([{ path: "type", message }]);
}

/** @throws StateError with all issues, if there are any */
export function requireNone(issues: Issue[]): void {
  if (issues.length === 0) return;
  throw new StateError(`the state does not fit this team: ${listIssues(issues)}`, { issues });
}
