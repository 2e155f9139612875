import { configOf, fieldsOf, listOf, textOf } from "../picture/component-json.ts";
import type { Catalogue, ComponentData } from "./catalogue.ts";
import { modelPath, targetOf } from "./parts.ts";
import { type ValuePath, valueAt, withoutSecrets, withValue } from "./value-path.ts";
import { graphOf, inChain, withNode, withoutNode, withRenamedNode } from "./graph.ts";

// Changes of the participants of a team. Each gives a copy of the component in which what refers to them fits, too.

/** The names of a team's participants, in their order. */
export function namesIn(root: unknown, team: ValuePath): string[] {
  return membersOf(root, team).map((part) => textOf(configOf(part)["name"]));
}

/** @param from the participant after which it works, in a graph */
export function withParticipant<T>(
  root: T,
  team: ValuePath,
  part: ComponentData,
  from?: string,
): T {
  const members = [...team, "config", "participants"];
  const next = withValue(root, members, [...membersOf(root, team), part]);
  const name = textOf(configOf(part)["name"]);
  if (graphOf(root, team) !== undefined) return withNode(next, team, name, from);
  if (from === undefined || !handsOver(root, team)) return next;
  return withHandoff(next, team, from, name);
}

export function withoutParticipant<T>(root: T, team: ValuePath, index: number): T {
  const name = namesIn(root, team)[index] ?? "";
  const others = withValue(root, [...team, "config", "participants", index], undefined);
  const unnamed = mapHandoffs(others, team, (handoff) =>
    targetOf(handoff) === name ? undefined : handoff,
  );
  return withoutNode(unnamed, team, name);
}

/** Handoffs and edges to it have its new name. */
export function withName<T>(root: T, team: ValuePath, index: number, name: string): T {
  const before = namesIn(root, team)[index] ?? "";
  const named = withValue(root, [...team, "config", "participants", index, "config", "name"], name);
  const handed = mapHandoffs(named, team, (handoff) => {
    if (targetOf(handoff) !== before) return handoff;
    return typeof handoff === "string" ? name : renamedHandoff(fieldsOf(handoff), before, name);
  });
  return withRenamedNode(handed, team, before, name);
}

/** Handoffs of AutoGen carry the name in the name of their tool, unless it was chosen. */
function renamedHandoff(handoff: object, before: string, name: string): object {
  const { name: tool } = handoff as { name?: unknown };
  const isUsual = tool === `transfer_to_${before}`.toLowerCase();
  return {
    ...handoff,
    target: name,
    ...(isUsual && { name: `transfer_to_${name}`.toLowerCase() }),
  };
}

/** Moves a participant to another place in the order. */
export function withOrder<T>(root: T, team: ValuePath, index: number, to: number): T {
  const members = membersOf(root, team);
  const others = members.toSpliced(index, 1);
  return withValue(
    root,
    [...team, "config", "participants"],
    others.toSpliced(to, 0, members[index]),
  );
}

export function withHandoff<T>(root: T, team: ValuePath, from: string, to: string): T {
  const index = namesIn(root, team).indexOf(from);
  if (index === -1) return root;
  const list = [...team, "config", "participants", index, "config", "handoffs"];
  const handoffs = listOf(valueAt(root, list));
  if (handoffs.some((handoff) => targetOf(handoff) === to)) return root;
  return withValue(root, list, [...handoffs, to]);
}

/** True if the agents of a team hand over to each other. */
export function handsOver(root: unknown, team: ValuePath): boolean {
  return textOf(fieldsOf(valueAt(root, team))["provider"]).endsWith(".Swarm");
}

/** A name that no participant has: `writer`, `writer_2`. */
export function freeName(names: readonly string[], wanted: string): string {
  if (!names.includes(wanted)) return wanted;
  let number = 2;
  while (names.includes(`${wanted}_${number}`)) number += 1;
  return `${wanted}_${number}`;
}

/** Why a name cannot be that of a participant; undefined if it can. */
export function wrongName(name: string, others: readonly string[]): string | undefined {
  if (name === "") return "A name is required.";
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name)) {
    return "Use letters, digits and _ only, and start with a letter or _.";
  }
  return others.includes(name) ? `Another agent is named ${name}. Choose another name.` : undefined;
}

/** A model client to copy, with the name of the agent that has it. Stored secrets are not copied. */
export interface KnownModel {
  name: string;
  model: ComponentData;
}

/** The model clients of a team and its participants. */
export function modelsIn(root: unknown, team: ValuePath): KnownModel[] {
  const places = [
    ["the team", team] as const,
    ...namesIn(root, team).map(
      (name, index) => [name, [...team, "config", "participants", index]] as const,
    ),
  ];
  return places.flatMap(([name, place]) => {
    const found = modelPath(root, place);
    if (found === undefined) return [];
    return [{ name, model: withoutSecrets(valueAt(root, found) as ComponentData) }];
  });
}

/** The team as one of another class: with its participants, and all settings that both have. */
export function withKind<T>(root: T, team: ValuePath, provider: string, catalogue: Catalogue): T {
  const before = configOf(valueAt(root, team));
  const made = catalogue.empty(provider);
  const kept = Object.entries(before).filter(([key]) => catalogue.has(provider, key));
  const [known] = modelsIn(root, team);
  const config = {
    ...made.config,
    ...("model_client" in (made.config ?? {}) && known && { model_client: known.model }),
    ...Object.fromEntries(kept),
  };
  const next = withValue(root, team, { ...made, config });
  return catalogue.has(provider, "graph") ? inChain(next, team, namesIn(root, team)) : next;
}

function membersOf(root: unknown, team: ValuePath): readonly unknown[] {
  return listOf(valueAt(root, [...team, "config", "participants"]));
}

/** @param change undefined removes the handoff */
function mapHandoffs<T>(root: T, team: ValuePath, change: (handoff: unknown) => unknown): T {
  let next = root;
  for (const index of membersOf(root, team).keys()) {
    const list = [...team, "config", "participants", index, "config", "handoffs"];
    const before = valueAt(root, list);
    if (!Array.isArray(before)) continue;
    const after = before.map(change).filter((handoff) => handoff !== undefined);
    if (JSON.stringify(after) !== JSON.stringify(before)) next = withValue(next, list, after);
  }
  return next;
}

/** A team of an agent alone, in which it takes turns with those that are added. */
export function asTeam(agent: ComponentData): ComponentData {
  return {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    component_type: "team",
    config: { participants: [agent], termination_condition: afterMessages(10) },
  };
}

export function afterMessages(count: number): ComponentData {
  return {
    provider: "autogen_agentchat.conditions.MaxMessageTermination",
    component_type: "termination",
    config: { max_messages: count },
  };
}
