import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import type { Played } from "../host.ts";
import { type Step, textOf } from "../trace.ts";
import {
  eventsOf,
  isProvider,
  isResult,
  mentions,
  messagesOf,
  type Place,
  recordedEvents,
  shapeOf,
} from "./place.ts";

const isMagenticOne = isProvider("MagenticOneGroupChat");

/** Deviation `hidden-task`: AutoGen's MagenticOne shows a task that was to be hidden. Leaves it out. */
export function withoutHiddenTask(step: Step, subject: JsonObject | undefined): Step {
  const { op, events } = step;
  if (op !== "run" || step["output_task_messages"] !== false || !Array.isArray(events)) return step;
  if (subject === undefined || !isMagenticOne(subject)) return step;
  const { length } = tasksOf(step);
  const streamed = events.filter((event) => !isResult(event));
  const results = events.filter(isResult).map((result) => withoutFirst(result, length));
  return { ...step, events: [...streamed.slice(length), ...results] };
}

/** As a participant it repeats its task, which then counts, and is heard, twice. */
export function saysTasksAgain({ step, played, subject }: Place): boolean {
  if (subject === undefined || isMagenticOne(subject)) return false;
  if (!mentions(subject, isMagenticOne)) return false;
  if (step.op === "call_tool") return showsTaskOfTool(step, played);
  if (step.op !== "run") return false;
  const recorded = messagesOf(recordedEvents(step));
  const hidden = step["output_task_messages"] === false ? tasksOf(step) : [];
  const seen = new Set([...hidden, ...tasksOfTools(recorded)].map((task) => JSON.stringify(task)));
  const once = recorded.filter(({ id, content }) => {
    const again = seen.has(textOf(id)) || seen.has(JSON.stringify(content));
    seen.add(textOf(id));
    return !again;
  });
  const ours = messagesOf(eventsOf(played)).map(shapeOf);
  return (
    once.length < recorded.length &&
    once.every((message, index) => shapeOf(message) === ours[index])
  );
}

/** As a tool it shows its task, too, and a result that lists all messages begins with it. */
function showsTaskOfTool({ arguments: given, items, text }: Step, { actual }: Played): boolean {
  const task = isJsonObject(given) ? given["task"] : undefined;
  const isTask = (item: Json): boolean => isJsonObject(item) && item["content"] === task;
  const shapes = (list: Json | undefined): string[] =>
    [list ?? []].flat().filter(isJsonObject).map(shapeOf);
  if (Array.isArray(items)) {
    const others = items.filter((item) => !isTask(item));
    return (
      others.length < items.length &&
      JSON.stringify(shapes(others)) === JSON.stringify(shapes(actual["items"]))
    );
  }
  const ours = textOf(actual["text"]);
  return ours !== "" && textOf(text).includes(textOf(task)) && textOf(text).endsWith(ours);
}

/** The tasks that models give to tools in some messages. */
function tasksOfTools(messages: readonly JsonObject[]): Json[] {
  const calls = messages
    .filter(({ type }) => type === "ToolCallRequestEvent")
    .flatMap(({ content }) => [content ?? []].flat());
  return calls.flatMap((call) => {
    const task = isJsonObject(call)
      ? /"task":\s*("(?:[^"\\]|\\.)*")/.exec(textOf(call["arguments"]))
      : null;
    return task?.[1] === undefined ? [] : [JSON.parse(task[1]) as Json];
  });
}

/** The contents of a run's task. */
function tasksOf({ task }: Step): Json[] {
  const messages = Array.isArray(task) ? task : [task ?? null];
  return messages.map((message) =>
    isJsonObject(message) ? (message["content"] ?? null) : message,
  );
}

function withoutFirst(result: JsonObject, count: number): Json {
  const { messages } = result;
  return { ...result, messages: Array.isArray(messages) ? messages.slice(count) : [] };
}
