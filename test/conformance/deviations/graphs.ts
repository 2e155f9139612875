import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { hasTeam } from "./loading.ts";
import { compareStep } from "../compare/steps.ts";
import type { Played } from "../host.ts";
import { sameJson, type Step, textOf } from "../trace.ts";
import {
  configOf,
  eventsOf,
  isLoading,
  isProvider,
  isResult,
  mentions,
  messagesOf,
  newComponent,
  type Place,
  type Recogniser,
  recordedEvents,
  shapeOf,
  sinceRenewed,
} from "./place.ts";

const COMPLETE = "Digraph execution is complete";

/** What graphs do otherwise on purpose. */
export const GRAPHS: readonly Recogniser[] = [
  {
    class: "task-source",
    explains: (place) =>
      (place.step.op === "run" || place.step.op === "save_state") &&
      place.played.error?.code !== null &&
      tasksBefore(place).some((task) => firesEdges(task, place.subject)),
  },
  {
    class: "wave",
    explains: ({ step, played, subject }) => {
      if (step.op === "save_state")
        return mentions(subject, forks) && onlyOrderDiffers(step, played);
      const [ours, recorded] = [eventsOf(played), recordedEvents(step)];
      if (step.op !== "run") return false;
      if (step["error"] !== undefined && played.error !== undefined) {
        return mentions(subject, forks) && isWithin(recorded, ours);
      }
      const reason = stopReason(ours);
      const isEarlier =
        messagesOf(ours).length < messagesOf(recorded).length || reason !== stopReason(recorded);
      // The reason why an inner team ended does not show.
      const isByCondition =
        subject !== undefined && isGraph(subject)
          ? reason !== COMPLETE && !reason?.startsWith("Maximum number of turns")
          : true;
      return (
        isGoodRun(step) &&
        played.error === undefined &&
        mentions(subject, (node) => forks(node) && hasTermination(node)) &&
        isEarlier &&
        isByCondition &&
        isWithin(ours, recorded)
      );
    },
  },
  {
    class: "graph-end",
    explains: ({ trace, step, played }) => {
      const reason = stopReason(eventsOf(played));
      const events = recordedEvents(step).map((event) =>
        isResult(event) ? { ...event, stop_reason: reason ?? null } : event,
      );
      return (
        isGoodRun(step) &&
        stopReason(recordedEvents(step)) === COMPLETE &&
        reason?.startsWith("Digraph execution cannot continue: ") === true &&
        compareStep(trace, { ...step, events }, played, {}) === undefined
      );
    },
  },
  {
    class: "loop-state",
    explains: (place) => {
      const { trace, step, played } = place;
      const loaded = loadedGraphs(place);
      if (loaded.length === 0 || played.error !== undefined) return false;
      if (step.op === "save_state") {
        const counted = countedAnew(step, played.actual["state"]);
        return (
          counted !== undefined &&
          compareStep(trace, { ...step, state: counted }, played, {}) === undefined
        );
      }
      const ours = eventsOf(played);
      return (
        isGoodRun(step) &&
        loaded.flatMap(complete).length > 0 &&
        isWithin(recordedEvents(step), ours)
      );
    },
  },
  {
    class: "after-error",
    explains: (place) => {
      const { step, played } = place;
      const drained = loadedGraphs(place).some(
        ({ ready }) => Array.isArray(ready) && ready.length === 0,
      );
      const task = [step["task"] ?? []].flat();
      return (
        isGoodRun(step) &&
        drained &&
        messagesOf(recordedEvents(step)).length <= task.length &&
        played.error?.code !== null
      );
    },
  },
  {
    class: "nested-speaker",
    explains: (place) => {
      const { trace, index, step, played, subject } = place;
      if (isLoading(step)) {
        const isRefused = step["error"] !== undefined && played.error === undefined;
        return isRefused && mentions(newComponent(place), (node) => isGraph(node) && hasTeam(node));
      }
      const speakers = strangers(subject);
      const runs = [...sinceRenewed(trace, index), step];
      return (
        (step.op === "run" || step.op === "save_state") &&
        played.error?.code !== null &&
        mentions(runs.flatMap(recordedEvents), ({ source }) => speakers.has(textOf(source)))
      );
    },
  },
];

const isGraph = isProvider("GraphFlow");

function isGoodRun({ op, error }: Step): boolean {
  return op === "run" && error === undefined;
}

function stopReason(events: readonly Json[]): string | undefined {
  const result = events.find(isResult);
  return isJsonObject(result) ? textOf(result["stop_reason"]) : undefined;
}

/** The task of a run and of those before that ended with their task. */
function tasksBefore({ trace, index, step }: Place): Json[] {
  const tasks: Json[] = [];
  for (const run of [...sinceRenewed(trace, index), step].filter(({ op }) => op === "run")) {
    const task = [run["task"] ?? null].flat();
    if (run !== step && messagesOf(recordedEvents(run)).length > task.length) tasks.length = 0;
    else tasks.push(...task.slice(-1));
  }
  return tasks;
}

/** Whether AutoGen takes the source of a task for the node of a graph that has spoken. */
function firesEdges(task: Json, graph: JsonObject | undefined): boolean {
  if (graph === undefined || !isJsonObject(task)) return false;
  return edgesOf(graph, textOf(task["source"])).some(
    ({ condition }) => typeof condition !== "string" || textOf(task["content"]).includes(condition),
  );
}

/** Whether each source says in a run no more than it says in another. */
function isWithin(run: readonly Json[], other: readonly Json[]): boolean {
  const [few, many] = [run, other].map((events) => messagesOf(events).map(shapeOf)) as [
    string[],
    string[],
  ];
  const count = (list: string[], shape: string): number =>
    list.filter((one) => one === shape).length;
  return few.every((shape) => count(few, shape) <= count(many, shape));
}

function hasTermination(team: JsonObject): boolean {
  return isJsonObject(configOf(team)["termination_condition"]);
}

/** Under which other names participants of graphs speak: an agent that another one was put around keeps its name. */
function strangers(subject: JsonObject | undefined): Set<string> {
  const names = new Set<string>();
  mentions(subject, (node) => {
    for (const participant of isGraph(node) ? participantsOf(node) : []) {
      const { name, wrapped_agent } = configOf(participant);
      const inner = isJsonObject(wrapped_agent) ? configOf(wrapped_agent)["name"] : undefined;
      if (inner !== undefined && inner !== name) names.add(textOf(inner));
    }
    return false;
  });
  return names;
}

function participantsOf(team: JsonObject): JsonObject[] {
  const { participants } = configOf(team);
  return Array.isArray(participants) ? participants.filter(isJsonObject) : [];
}

/** Whether a team is a graph of which several nodes can be ready at once. */
function forks(team: JsonObject): boolean {
  if (!isGraph(team)) return false;
  const nodes = Object.keys(nodesOf(team));
  const targets = new Set(nodes.flatMap((name) => edgesOf(team, name)).map(({ target }) => target));
  return (
    nodes.filter((name) => !targets.has(name)).length > 1 ||
    nodes.some((name) => edgesOf(team, name).length > 1)
  );
}

function nodesOf(team: JsonObject): JsonObject {
  const graph = configOf(team)["graph"];
  return isJsonObject(graph) && isJsonObject(graph["nodes"]) ? graph["nodes"] : {};
}

function edgesOf(team: JsonObject, name: string): JsonObject[] {
  const nodes = nodesOf(team);
  const node = Object.hasOwn(nodes, name) ? nodes[name] : undefined;
  const edges = isJsonObject(node) ? node["edges"] : undefined;
  return Array.isArray(edges) ? edges.filter(isJsonObject) : [];
}

/** The states of graphs, inner ones too, that were loaded last into the present subject. */
function loadedGraphs({ trace, index }: Place): JsonObject[] {
  const load = sinceRenewed(trace, index).findLast(({ op }) => op === "load_state");
  return graphStates(load?.["state"]);
}

function graphStates(state: Json | undefined): JsonObject[] {
  const found: JsonObject[] = [];
  mentions(state, (node) => {
    if (isJsonObject(node["remaining"]) && isJsonObject(node["enqueued_any"])) found.push(node);
    return false;
  });
  return found;
}

/** The groups of edges of which a state says that they have made, or once made, their target ready. */
function complete({ remaining, enqueued_any }: JsonObject): { target: string; group: string }[] {
  const isDone = (count: Json): boolean =>
    typeof count === "number" ? count <= 0 : count === true;
  return [remaining, enqueued_any].filter(isJsonObject).flatMap((targets) =>
    Object.entries(targets).flatMap(([target, groups]) =>
      Object.entries(isJsonObject(groups) ? groups : {})
        .filter(([, count]) => isDone(count))
        .map(([group]) => ({ target, group })),
    ),
  );
}

/** A recorded state with our counts for the groups that AutoGen forgot to count again; undefined without any. */
function countedAnew({ state }: Step, actual: Json | undefined): Json | undefined {
  const copy = structuredClone(state);
  const [managers, own] = [graphStates(copy), graphStates(actual)];
  if (copy === undefined || managers.length !== own.length) return undefined;
  let forgotten = 0;
  for (const [at, manager] of managers.entries()) forgotten += countAnew(manager, own[at] ?? {});
  return forgotten > 0 ? copy : undefined;
}

function countAnew(manager: JsonObject, ours: JsonObject): number {
  const counted = complete(ours);
  const forgotten = complete(manager).filter(
    (one) => !counted.some(({ target, group }) => target === one.target && group === one.group),
  );
  for (const { target, group } of forgotten) {
    for (const key of ["remaining", "enqueued_any"]) {
      const [into, from] = [manager[key], ours[key]].map((targets) =>
        isJsonObject(targets) ? targets[target] : undefined,
      );
      if (isJsonObject(into) && isJsonObject(from)) into[group] = from[group] ?? null;
    }
  }
  return forgotten.length;
}

/** Whether two states of graphs are the same but for the order in which messages that were said at once are kept. */
function onlyOrderDiffers(step: Step, { actual, error }: Played): boolean {
  const [recorded, ours] = [graphStates(step["state"]), graphStates(actual["state"])];
  const shapes = ({ message_thread }: JsonObject): string[] =>
    messagesOf([message_thread ?? []].flat())
      .map(shapeOf)
      .toSorted();
  const others = (state: JsonObject): JsonObject => ({ ...state, message_thread: null });
  return (
    error === undefined &&
    recorded.length > 0 &&
    recorded.length === ours.length &&
    recorded.every((state, at) => {
      const own = ours[at] ?? {};
      return sameJson(shapes(state), shapes(own)) && sameJson(others(state), others(own));
    })
  );
}
