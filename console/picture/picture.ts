import {
  classOf,
  configOf,
  fieldsOf,
  innerTeamOf,
  listOf,
  type UncheckedComponent,
  textOf,
} from "./component-json.ts";
import { type Mark, marksOf } from "./marks.ts";

export interface PictureNode {
  id: string;
  kind: "task" | "participant" | "manager" | "outside";
  name: string;
  description: string;
  provider: string;
  marks: readonly Mark[];
  /** The team inside, which has its own picture. */
  inner: UncheckedComponent | undefined;
}

export interface PictureEdge {
  id: string;
  from: string;
  to: string;
  /** The condition under which it is taken; empty if it always is. */
  condition: string;
  /** The name of the function on the server that decides. */
  decidedBy: string;
  /** Edges that are counted together before their target runs. */
  group: string;
  /** True if one edge of the group is enough. */
  any: boolean;
  /** Its place in the component; undefined if it only shows an order. */
  place: readonly (string | number)[] | undefined;
}

/** A team as nodes and edges. */
export interface Picture {
  kind: "ring" | "graph" | "selector" | "swarm" | "orchestrator" | "other";
  nodes: readonly PictureNode[];
  edges: readonly PictureEdge[];
  /** The node that each source's messages belong to. Those of inner agents belong to the participant around them. */
  owners: ReadonlyMap<string, string>;
  /** The nodes where a run begins. */
  starts: readonly string[];
}

export const TASK = "task";
export const MANAGER = "manager";

/** The source of the messages of a Magentic-One orchestrator. */
const ORCHESTRATOR = "MagenticOneOrchestrator";

const KINDS: Readonly<Record<string, Picture["kind"]>> = {
  RoundRobinGroupChat: "ring",
  GraphFlow: "graph",
  SelectorGroupChat: "selector",
  Swarm: "swarm",
  MagenticOneGroupChat: "orchestrator",
};

/** The picture of a team, or of a single agent. */
export function pictureOf(component: UncheckedComponent): Picture {
  const team = innerTeamOf(component) ?? component;
  // An agent around a team is shown as a node, and its team opens like that of any participant.
  const isTeam = team === component && Array.isArray(configOf(team)["participants"]);
  const parts = isTeam
    ? (listOf(configOf(team)["participants"]) as UncheckedComponent[])
    : [component];
  const participants = parts.map(participantNode);
  const kind = isTeam ? (KINDS[classOf(team)] ?? "other") : "other";
  const owners = new Map<string, string>();
  for (const [index, part] of parts.entries()) {
    for (const name of innerNames(part)) if (!owners.has(name)) owners.set(name, idOf(index));
  }
  for (const { id, name } of participants) owners.set(name, id);
  switch (kind) {
    case "ring":
      return { kind, nodes: participants, edges: ringOf(participants), owners, starts: [idOf(0)] };
    case "graph":
      return graphOf(configOf(team)["graph"], participants, owners);
    case "swarm":
      return swarmOf(parts, participants, owners);
    case "selector":
    case "orchestrator": {
      if (kind === "orchestrator") owners.set(ORCHESTRATOR, MANAGER);
      const manager = managerNode(team, kind);
      const edges = participants.map(({ id }) => edge(MANAGER, id));
      return { kind, nodes: [manager, ...participants], edges, owners, starts: [MANAGER] };
    }
    case "other":
      return { kind, nodes: participants, edges: [], owners, starts: [idOf(0)] };
  }
}

/** The picture with added edges: those that were taken although the component does not name them. */
export function withEdges(
  picture: Picture,
  pairs: readonly (readonly [string, string])[],
): Picture {
  if (pairs.length === 0) return picture;
  const outside = new Set(pairs.flat());
  for (const { id } of picture.nodes) outside.delete(id);
  return {
    ...picture,
    nodes: [...picture.nodes, ...[...outside].map(outsideNode)],
    edges: [...picture.edges, ...pairs.map(([from, to]) => edge(from, to))],
  };
}

/** The node of a target outside the team: a human to whom a swarm hands over. */
export function outsideId(name: string): string {
  return `outside ${name}`;
}

function outsideNode(id: string): PictureNode {
  const name = id.replace(/^outside /, "");
  const description = "Outside the team. A handoff to it ends the run.";
  return { ...EMPTY, id, kind: "outside", name, description };
}

const EMPTY = { description: "", provider: "", marks: [], inner: undefined } as const;

const TASK_NODE: PictureNode = { ...EMPTY, id: TASK, kind: "task", name: "Task" };

function idOf(index: number): string {
  return `participant ${index}`;
}

function participantNode(part: UncheckedComponent, index: number): PictureNode {
  const { name, description } = configOf(part);
  return {
    id: idOf(index),
    kind: "participant",
    name: textOf(name) || classOf(part) || "agent",
    description: textOf(description),
    provider: textOf(fieldsOf(part)["provider"]),
    marks: marksOf(part),
    inner: innerTeamOf(part),
  };
}

function managerNode(team: UncheckedComponent, kind: "selector" | "orchestrator"): PictureNode {
  const selector = kind === "selector";
  return {
    ...EMPTY,
    id: MANAGER,
    kind: "manager",
    name: selector ? "selector" : "orchestrator",
    description: selector
      ? "Selects who speaks next."
      : "Keeps the ledgers and instructs the participants.",
    provider: textOf(fieldsOf(team)["provider"]),
    marks: marksOf(team).filter((mark) => mark.kind === "model"),
  };
}

function edge(from: string, to: string, rest: Partial<PictureEdge> = {}): PictureEdge {
  const { condition = "", decidedBy = "", group = "", any = false, place } = rest;
  const id = JSON.stringify([from, to, condition, decidedBy, group]);
  return { id, from, to, condition, decidedBy, group, any, place };
}

function ringOf(participants: readonly PictureNode[]): PictureEdge[] {
  if (participants.length < 2) return [];
  return participants.map(({ id }, index) => edge(id, idOf((index + 1) % participants.length)));
}

function graphOf(
  graph: unknown,
  participants: readonly PictureNode[],
  owners: ReadonlyMap<string, string>,
): Picture {
  const { nodes, default_start_node } = fieldsOf(graph);
  const edges = new Map<string, PictureEdge>();
  const reached = new Set<string>();
  for (const [key, node] of Object.entries(fieldsOf(nodes))) {
    const from = owners.get(textOf(fieldsOf(node)["name"]) || key);
    for (const [index, given] of listOf(fieldsOf(node)["edges"]).entries()) {
      const fields = fieldsOf(given);
      const to = owners.get(textOf(fields["target"]));
      if (from === undefined || to === undefined) continue;
      reached.add(to);
      const made = edge(from, to, {
        condition: textOf(fields["condition"]),
        decidedBy: textOf(fields["condition_function"]),
        group: textOf(fields["activation_group"]) || textOf(fields["target"]),
        any: fields["activation_condition"] === "any",
        place: ["config", "graph", "nodes", key, "edges", index],
      });
      edges.set(made.id, made);
    }
  }
  const named = owners.get(textOf(default_start_node));
  const inGraph = new Set(Object.keys(fieldsOf(nodes)).map((name) => owners.get(name)));
  const free = participants.filter(({ id }) => inGraph.has(id) && !reached.has(id));
  const starts = named === undefined ? free.map(({ id }) => id) : [named];
  return {
    kind: "graph",
    nodes: [TASK_NODE, ...participants],
    edges: [...starts.map((start) => edge(TASK, start)), ...edges.values()],
    owners,
    starts,
  };
}

function swarmOf(
  parts: readonly UncheckedComponent[],
  participants: readonly PictureNode[],
  owners: ReadonlyMap<string, string>,
): Picture {
  const outside = new Map<string, PictureNode>();
  const edges = new Map<string, PictureEdge>();
  for (const [index, part] of parts.entries()) {
    for (const [place, handoff] of listOf(configOf(part)["handoffs"]).entries()) {
      const target = textOf(handoff) || textOf(fieldsOf(handoff)["target"]);
      if (target === "") continue;
      const to = owners.get(target) ?? outsideId(target);
      if (!owners.has(target)) outside.set(to, outsideNode(to));
      const made = edge(idOf(index), to, {
        place: ["config", "participants", index, "config", "handoffs", place],
      });
      edges.set(made.id, made);
    }
  }
  const [first] = participants;
  const starts = first === undefined ? [] : [first.id];
  return {
    kind: "swarm",
    nodes: [TASK_NODE, ...participants, ...outside.values()],
    edges: [...starts.map((start) => edge(TASK, start)), ...edges.values()],
    owners,
    starts,
  };
}

/** The names of all agents inside a participant: those of a team, and one whose messages are filtered. */
function innerNames(part: UncheckedComponent): string[] {
  const inner = innerTeamOf(part);
  const members = [...listOf(configOf(inner)["participants"]), configOf(part)["wrapped_agent"]];
  return members.flatMap((member) =>
    member == null
      ? []
      : [textOf(configOf(member)["name"]), ...innerNames(member as UncheckedComponent)],
  );
}
