import { type Issue, StateError } from "../core/errors.ts";
import { listIssues, pathOf } from "../core/issues.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";

/**
 * Refuses a state of another kind of object. Loading would take what it knows from it, as AutoGen does, and silently
 * drop the rest: a whole conversation where a team's state meets a single agent.
 *
 * @param own what the object that is to load it saves
 * @throws StateError naming every place
 */
export function requireKind(state: JsonObject, own: JsonObject): void {
  refuse(isOther(state, own) ? [otherKind("type", state, own)] : []);
}

/**
 * The same for a component that takes the place of another: nobody's state may be lost on the way, wherever it stands.
 *
 * @throws StateError naming every place
 */
export function requireNothingLost(state: JsonObject, own: JsonObject): void {
  const places = isJsonObject(own["agent_states"]) ? own["agent_states"] : {};
  const gone = isJsonObject(state["agent_states"])
    ? Object.keys(state["agent_states"]).filter((name) => !Object.hasOwn(places, name))
    : [];
  refuse([
    ...otherKinds(state, own, ""),
    ...gone.map((name) => ({
      path: pathOf(["agent_states", name]),
      message: "has no place in the component",
    })),
  ]);
}

function otherKinds(state: JsonObject, own: JsonObject, path: string): Issue[] {
  if (isOther(state, own)) return [otherKind(pathOf(["type"], path), state, own)];
  return Object.entries(own).flatMap(([key, inner]) => {
    const given = Object.hasOwn(state, key) ? state[key] : undefined;
    return isJsonObject(inner) && isJsonObject(given)
      ? otherKinds(given, inner, pathOf([key], path))
      : [];
  });
}

function isOther({ type: given }: JsonObject, { type: wanted }: JsonObject): boolean {
  return typeof given === "string" && typeof wanted === "string" && given !== wanted;
}

function otherKind(path: string, { type: given }: JsonObject, { type: wanted }: JsonObject): Issue {
  return { path, message: `is ${JSON.stringify(given)}; it must be ${JSON.stringify(wanted)}` };
}

function refuse(issues: Issue[]): void {
  if (issues.length === 0) return;
  throw new StateError(`the state does not fit this team: ${listIssues(issues)}`, { issues });
}
