import { configOf, listOf, textOf } from "../picture/component-json.ts";
import { pathText } from "../parts/json-path.ts";
import { agentPath, modelPath } from "./parts.ts";
import { type ValuePath, valueAt } from "./value-path.ts";

/** The address of a field in the editor of a team: opens the part that has it and moves the focus there. */
export function fieldAddress(teamId: string, path: ValuePath): string {
  return `/teams/${teamId}?view=picture&at=${encodeURIComponent(pathText(path))}`;
}

/** The place of the key of an agent's model; undefined if no agent of this name has a model. */
export function keyPath(component: unknown, agent: string): ValuePath | undefined {
  for (const place of agentPlaces(component, [])) {
    const own = agentPath(component, place);
    const names = [place, own].map((path) => textOf(configOf(valueAt(component, path))["name"]));
    const model = names.includes(agent) ? modelPath(component, own) : undefined;
    if (model !== undefined) return [...model, "config", "api_key"];
  }
  return undefined;
}

/** The places of all agents, also of those in teams inside. */
function* agentPlaces(component: unknown, path: ValuePath): Generator<ValuePath> {
  yield path;
  const { participants, team } = configOf(valueAt(component, path));
  for (const index of listOf(participants).keys()) {
    yield* agentPlaces(component, [...path, "config", "participants", index]);
  }
  if (team != null) yield* agentPlaces(component, [...path, "config", "team"]);
}

/** The places of all teams of a component. */
export function teamsIn(component: unknown): ValuePath[] {
  return [...agentPlaces(component, [])].filter((path) =>
    Array.isArray(configOf(valueAt(component, path))["participants"]),
  );
}
