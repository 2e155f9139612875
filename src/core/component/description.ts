import { beginningOf } from "../cut.ts";
import { isJsonObject, type Json } from "../json.ts";
import type { ComponentModel } from "./component-model.ts";

const LONGEST = 500;
/** Beginnings of descriptions that every component of a class has: they say nothing about this one. */
const OF_CLASSES =
  /^(?:A team of agents\.?$|A team that runs a group chat|A group chat team that|An agent that (?:provides assistance with|answers with the help of tools))/;

/**
 * The description of a team or an agent: its own, those of its agents, or the name of its class. At most 500 characters.
 */
export function descriptionOf({ provider, description, config }: ComponentModel): string {
  const given = [description, config["description"]].filter(isText);
  const own = given.find((text) => !OF_CLASSES.test(text)) ?? ofAgents(config["participants"]);
  const [kind = provider] = provider.split(".").slice(-1);
  return beginningOf(own ?? given[0] ?? kind, LONGEST);
}

function ofAgents(participants: Json | undefined): string | undefined {
  if (!Array.isArray(participants)) return undefined;
  const said = participants.flatMap((one) => {
    const config = isJsonObject(one) ? one["config"] : undefined;
    if (!isJsonObject(config) || !isText(config["name"])) return [];
    const { name, description } = config;
    return isText(description) && !OF_CLASSES.test(description) ? `${name}: ${description}` : name;
  });
  return said.length === 0 ? undefined : said.join("; ");
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}
