import { textOf } from "../picture/component-json.ts";
import type { ComponentData } from "./catalogue.ts";
import {
  alone,
  isBounded,
  isInLoop,
  stuckEdges,
  TURNS_OF_A_LOOP,
  withTurns,
} from "./connections.ts";
import { freeName, namesIn, withParticipant } from "./edits.ts";
import {
  type ComponentEdge,
  edgesIn,
  graphOf,
  nodesIn,
  startsIn,
  withAny,
  withEntry,
} from "./graph.ts";
import { modelPath } from "./parts.ts";
import type { Mistake } from "./repairs.ts";
import { type ValuePath, valueAt, withoutSecrets, withValue } from "./value-path.ts";

/** The words by which an agent decides whether its loop continues. */
const AGAIN = "AGAIN";
const DONE = "DONE";

/** The reasons why a graph cannot run, each at its edge and with what removes it. */
export function graphFlaws(root: ComponentData, team: ValuePath): Mistake[] {
  if (graphOf(root, team) === undefined || nodesIn(root, team).length === 0) return [];
  const edges = edgesIn(root, team);
  return [
    ...loopsWithoutEnd(root, team, edges),
    ...mixedEdges(edges),
    ...disagreements(team, edges),
    ...stuckLoops(root, team),
    ...noStart(root, team),
    ...noLimit(root, team, edges),
  ];
}

/** Loops that no condition ends, and graphs without a last agent. */
function loopsWithoutEnd(
  root: ComponentData,
  team: ValuePath,
  edges: readonly ComponentEdge[],
): Mistake[] {
  const conditional = new Set(edges.filter(isConditional).map(({ from }) => from));
  const free = edges.filter(
    ({ from, target }) => !conditional.has(from) && !conditional.has(target),
  );
  const endless = closingEdge(free);
  const withoutLast = nodesIn(root, team).every((name) => edges.some(({ from }) => from === name));
  const edge = endless ?? (withoutLast ? closingEdge(edges) : undefined);
  if (edge === undefined) return [];
  if (withoutLast) {
    const what = endless === undefined ? "an agent" : "a condition and an agent";
    return [
      {
        path: edge.path,
        message: `Nothing comes after this loop: it needs ${what} with which it ends.`,
        repair: { name: "Add an exit", change: (all) => withExit(all, team, edge) },
      },
    ];
  }
  return [
    {
      path: edge.path,
      message: "Nothing ends this loop: one of its edges needs a condition.",
      repair: { name: "Add a condition", change: (all) => withConditions(all, team, edge) },
    },
  ];
}

/** An edge that closes a loop: one that was drawn as such, or the last one of a loop. */
function closingEdge(edges: readonly ComponentEdge[]): ComponentEdge | undefined {
  const inLoops = edges.filter((edge) => isInLoop(edges, edge));
  return inLoops.find(({ any, group, target }) => any && group !== target) ?? inLoops.at(-1);
}

/** The edge with a word that continues its loop, and the others of its agent with one that ends it. The system message of the agent has both. */
function withConditions(root: ComponentData, team: ValuePath, edge: ComponentEdge): ComponentData {
  let next = root;
  for (const one of edgesIn(root, team)) {
    if (one.from !== edge.from || isConditional(one)) continue;
    const word = String(one.path) === String(edge.path) ? AGAIN : DONE;
    next = withValue(next, [...one.path, "condition"], word);
  }
  return told(next, team, edge.from);
}

/** An agent after the loop, which the source of the edge reaches with a word of its own. */
function withExit(root: ComponentData, team: ValuePath, edge: ComponentEdge): ComponentData {
  const names = namesIn(root, team);
  const source = [...team, "config", "participants", names.indexOf(edge.from)];
  const model = modelPath(root, source) ?? modelPath(root, [...team, "config", "participants", 0]);
  const name = freeName(names, "final");
  const agent: ComponentData = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    component_type: "agent",
    config: {
      name,
      description: "Gives the result.",
      system_message: "Give the final result of the conversation, without comments on it.",
      ...(model !== undefined && { model_client: withoutSecrets(valueAt(root, model)) }),
      model_client_stream: true,
    },
  };
  return withConditions(withParticipant(root, team, agent, edge.from), team, edge);
}

/** Adds both words to the system message of an assistant, unless it has them. */
function told(root: ComponentData, team: ValuePath, name: string): ComponentData {
  const index = namesIn(root, team).indexOf(name);
  const place = [...team, "config", "participants", index, "config", "system_message"];
  const agent = place.slice(0, -2);
  const isAssistant = textOf(
    (valueAt(root, agent) as ComponentData | undefined)?.provider,
  ).endsWith(".AssistantAgent");
  const text = textOf(valueAt(root, place));
  if (!isAssistant || text.includes(AGAIN)) return root;
  const words = `End your message with ${AGAIN} if more work is needed, and with ${DONE} if not.`;
  return withValue(root, place, text === "" ? words : `${text}\n\n${words}`);
}

/** Agents with edges of which only some have a condition. */
function mixedEdges(edges: readonly ComponentEdge[]): Mistake[] {
  return edges
    .filter(
      (edge) =>
        !isConditional(edge) &&
        edges.some((other) => other.from === edge.from && isConditional(other)),
    )
    .map(({ path, from }) => ({
      path,
      message: `This edge of ${from} has no condition, and others have one: all need one, or none.`,
      repair: { name: "Write its condition", show: [...path, "condition"] },
    }));
}

/** Edges that are counted together, and of which only some are enough by themselves. */
function disagreements(team: ValuePath, edges: readonly ComponentEdge[]): Mistake[] {
  return edges
    .filter((edge) =>
      edges.some(
        ({ target, group, any }) =>
          target === edge.target && group === edge.group && any && !edge.any,
      ),
    )
    .map((edge) => ({
      path: edge.path,
      message: `${edge.target} waits for this edge, but not for the others of the same group.`,
      repair: { name: "Wait for one of them", change: (all) => withAny(all, team, edge, true) },
    }));
}

function stuckLoops(root: ComponentData, team: ValuePath): Mistake[] {
  return stuckEdges(root, team).map((edge) => ({
    path: edge.path,
    message: `${edge.target} waits for this edge of its loop and for the one from ${edge.other} at the same time, so the loop never continues.`,
    repair: { name: "Start it by this edge alone", change: (all) => alone(all, team, edge) },
  }));
}

function noStart(root: ComponentData, team: ValuePath): Mistake[] {
  const [first] = nodesIn(root, team);
  if (first === undefined || startsIn(root, team).length > 0) return [];
  return [
    {
      path: [...team, "config", "graph", "default_start_node"],
      message: "An edge leads to every agent, so the graph begins with none.",
      repair: { name: `Start with ${first}`, change: (all) => withEntry(all, team, first) },
    },
  ];
}

function noLimit(root: ComponentData, team: ValuePath, edges: readonly ComponentEdge[]): Mistake[] {
  if (isBounded(root, team) || closingEdge(edges) === undefined) return [];
  return [
    {
      path: [...team, "config", "max_turns"],
      message: "A graph with a loop needs a limit: its condition may never be met.",
      repair: { name: `End after ${TURNS_OF_A_LOOP} turns`, change: (all) => withTurns(all, team) },
    },
  ];
}

function isConditional({ condition, decidedBy }: ComponentEdge): boolean {
  return condition !== "" || decidedBy !== "";
}
