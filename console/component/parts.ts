import type { ComponentData } from "./catalogue.ts";
import { classOf, configOf, fieldsOf, listOf, textOf } from "../picture/component-json.ts";
import type { PictureNode } from "../picture/picture.ts";
import { hasKeptSecrets, type ValuePath, valueAt, withValue } from "./value-path.ts";

/** The agent of a participant whose messages are filtered, otherwise the participant itself. */
export function agentPath(root: unknown, path: ValuePath): ValuePath {
  const { wrapped_agent } = configOf(valueAt(root, path));
  return wrapped_agent == null ? path : agentPath(root, [...path, "config", "wrapped_agent"]);
}

/** The model client of an agent or a team, without the cache around it. */
export function modelPath(root: unknown, path: ValuePath): ValuePath | undefined {
  const found = [...path, "config", "model_client"];
  while (configOf(valueAt(root, found))["client"] != null) found.push("config", "client");
  return valueAt(root, found) == null ? undefined : found;
}

/** The tools of an agent, and its workbenches whose tools are listed elsewhere. */
export function toolPaths(root: unknown, path: ValuePath): ValuePath[] {
  const config = [...path, "config"];
  const own = itemsAt(root, [...config, "tools"]);
  const benches = benchPaths(root, path).flatMap((bench) =>
    isStatic(valueAt(root, bench)) ? itemsAt(root, [...bench, "config", "tools"]) : [bench],
  );
  return [...own, ...benches];
}

/** Adds a tool, or a workbench, in the form in which the agent has its tools. */
export function withTool<T>(root: T, path: ValuePath, tool: ComponentData): T {
  const config = [...path, "config"];
  const benches = benchPaths(root, path);
  const own = listOf(valueAt(root, [...config, "tools"]));
  const isBench = tool.component_type === "workbench";
  if (!isBench && benches.length === 0) {
    return withValue(root, [...config, "tools"], [...own, tool]);
  }
  const bench0 = benches.find((bench) => isStatic(valueAt(root, bench)));
  if (!isBench && bench0 !== undefined) {
    const list = [...bench0, "config", "tools"];
    return withValue(root, list, [...listOf(valueAt(root, list)), tool]);
  }
  // An agent has tools or workbenches, not both.
  const before = [
    ...benches.map((bench) => valueAt(root, bench)),
    ...(own.length > 0 ? [staticBench(own)] : []),
  ];
  const all = [...before, isBench ? tool : staticBench([tool])];
  return withValue(withValue(root, [...config, "tools"], undefined), [...config, "workbench"], all);
}

/** The name of a tool, or its class. */
export function nameOf(part: unknown): string {
  return textOf(configOf(part)["name"]) || classOf(part);
}

/** The agent that a handoff names. */
export function targetOf(handoff: unknown): string {
  return textOf(handoff) || textOf(fieldsOf(handoff)["target"]);
}

function benchPaths(root: unknown, path: ValuePath): ValuePath[] {
  const benches: ValuePath = [...path, "config", "workbench"];
  const value = valueAt(root, benches);
  // Version 1 has a single one.
  if (value == null) return [];
  return Array.isArray(value) ? itemsAt(root, benches) : [benches];
}

function itemsAt(root: unknown, list: ValuePath): ValuePath[] {
  return listOf(valueAt(root, list)).map((_, index) => [...list, index]);
}

function isStatic(bench: unknown): boolean {
  return classOf(bench).startsWith("Static") && Array.isArray(configOf(bench)["tools"]);
}

function staticBench(tools: readonly unknown[]): ComponentData {
  return {
    provider: "autogen_core.tools.StaticWorkbench",
    component_type: "workbench",
    config: { tools },
  };
}

/** The tools inside of components that can be used elsewhere, one of each name. Those with stored secrets cannot. */
export function readyTools(components: readonly unknown[]): ComponentData[] {
  const found = new Map<string, ComponentData>();
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { component_type, config } = value as { component_type?: unknown; config?: unknown };
    const name = component_type === "tool" ? textOf(fieldsOf(config)["name"]) : "";
    if (name !== "" && !found.has(name) && !hasKeptSecrets(value)) {
      found.set(name, value as ComponentData);
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  for (const component of components) visit(component);
  return [...found.values()].toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
}

/** The place of a participant, or of the manager, in a component whose team is at `team`. */
export function nodePlace(
  root: unknown,
  team: ValuePath,
  { id, kind }: Pick<PictureNode, "id" | "kind">,
): ValuePath {
  const isTeam = Array.isArray(configOf(valueAt(root, team))["participants"]);
  const index = /^participant (\d+)$/.exec(id)?.[1];
  return kind !== "participant" || !isTeam || index === undefined
    ? team
    : [...team, "config", "participants", Number(index)];
}

/** The place of the team inside a participant. */
export function innerPath(root: unknown, path: ValuePath): ValuePath {
  const isTeam = Array.isArray(configOf(valueAt(root, path))["participants"]);
  return isTeam ? path : [...path, "config", "team"];
}
