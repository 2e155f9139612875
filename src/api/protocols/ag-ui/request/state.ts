import type { TeamGateway } from "../../../../contract/gateways/team-gateway.ts";
import { ValueError } from "../../../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { requireShareable } from "../../../../core/state/shared-state.ts";
import { invalid, unwrap } from "../../../http/endpoint/problem.ts";
import { OWN } from "../wire/events.ts";
import type { RunInput } from "../wire/input.ts";
import type { AgUiOptions } from "../wire/options.ts";

/**
 * The part of the client's state that a stream may write. A state that is not an object belongs to the application alone.
 */
export function shareOf(state: unknown): AgUiOptions["state"] {
  if (state === undefined || state === null) return "whole";
  if (!isJsonObject(state)) return "none";
  return Object.keys(state).every((key) => key === OWN) ? "whole" : "part";
}

/**
 * The members of the client's state that are new to the team; undefined for a team whose agents want none.
 *
 * @throws ProblemError 422 for a state that the team cannot have
 */
export async function stateOf(
  { state }: Pick<RunInput, "state">,
  team: TeamGateway,
): Promise<JsonObject | undefined> {
  if (!isJsonObject(state) || shareOf(state) === "whole") return undefined;
  const { shared_state: shared } = unwrap(await team.visibleState());
  if (!isJsonObject(shared)) return undefined;
  const { [OWN]: _, ...given } = state;
  try {
    requireShareable({ ...shared, ...given }, "state");
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw invalid("invalid_request", "The agents cannot share this state.", error.issues);
  }
  const changed = Object.entries(given).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(shared[name]),
  );
  return changed.length > 0 ? Object.fromEntries(changed) : undefined;
}
