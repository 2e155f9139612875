import { isJsonObject, type Json, type JsonObject } from "../../../../core/json.ts";
import type { AgUiOptions } from "../wire/options.ts";

/** The options of a stream must stay small. */
const MOST_AGENTS = 200;

/**
 * The inner teams that the agents of a component are in, outermost first: teams among the participants, and agents whose
 * answers a team works out. An agent outside of them, and a name that is in several places, is left out.
 *
 * @returns null for an agent by itself, which is not a subagent
 */
export function innerTeamsOf(component: unknown): AgUiOptions["subagents"] {
  if (membersOf(component as Json).length === 0) return null;
  const places = new Map<string, string[][]>();
  note(component as Json, [], places);
  return Object.fromEntries(
    [...places]
      .flatMap(([name, [only, ...others]]) =>
        only !== undefined && only.length > 0 && others.length === 0 ? [[name, only] as const] : [],
      )
      .slice(0, MOST_AGENTS),
  );
}

/** @param within the inner teams around the component */
function note(
  component: Json | undefined,
  within: string[],
  places: Map<string, string[][]>,
): void {
  for (const member of membersOf(component)) {
    const name = nameOf(member);
    places.set(name, [...(places.get(name) ?? []), within]);
    note(member, [...within, name], places);
  }
}

function membersOf(component: Json | undefined): JsonObject[] {
  if (!isJsonObject(component) || !isJsonObject(component["config"])) return [];
  const { participants, team } = component["config"];
  // The team of an agent has no name of its own in the conversation.
  if (team !== undefined) return membersOf(team);
  return Array.isArray(participants) ? participants.filter(isJsonObject) : [];
}

/** A team without a name has that of its class. */
function nameOf({ provider, config }: JsonObject): string {
  const name = isJsonObject(config) ? config["name"] : undefined;
  if (typeof name === "string" && name !== "") return name;
  return typeof provider === "string" ? provider.slice(provider.lastIndexOf(".") + 1) : "";
}
