import {
  type AnyComponentDefinition,
  componentDefinition,
  type ComponentDefinition,
} from "../component/component.ts";
import { inConfig } from "../component/refused-where-new.ts";
import type { Issue } from "../errors.ts";
import type { TerminationCondition } from "./termination-condition.ts";

/** The form of one of AutoGen's conditions in component JSON. */
export function conditionDefinition<Config>(
  definition: { name: string } & Pick<
    ComponentDefinition<Config, TerminationCondition>,
    "configSchema" | "fromConfig"
  > & {
      /** The mistakes of a new one. */
      findMistakes?: (config: Config) => Issue[];
    },
): AnyComponentDefinition {
  const { name, configSchema, fromConfig, findMistakes } = definition;
  return componentDefinition({
    provider: `autogen_agentchat.conditions.${name}`,
    componentType: "termination",
    role: "termination",
    version: 1,
    configSchema,
    ...(findMistakes && { refusals: (config: Config) => inConfig(findMistakes(config)) }),
    fromConfig: (config: Config, loader) => fromConfig(config, loader),
  });
}

/** A limit of 0 is reached before the first message, so no run of the team begins. */
export function limitMistakes(path: string, limit: number): Issue[] {
  if (Number.isInteger(limit) && limit > 0) return [];
  const message = `must be a whole number from 1, not ${limit}`;
  return [{ path, message: limit < 1 ? `${message}: the team would never start` : message }];
}

/** @param remedy what to write instead of an empty list */
export function noSourceMistakes(sources: readonly string[], remedy: string): Issue[] {
  if (sources.length > 0) return [];
  return [
    { path: "sources", message: `must not be empty, because it would never fire: ${remedy}` },
  ];
}
