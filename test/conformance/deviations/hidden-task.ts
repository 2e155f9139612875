import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
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

/** As a participant it says again whatever it is told, which then counts, and is heard, twice. */
export function saysTasksAgain({ step, played, subject }: Place): boolean {
  if (step.op !== "run" || subject === undefined || isMagenticOne(subject)) return false;
  if (!mentions(subject, isMagenticOne)) return false;
  const hidden = step["output_task_messages"] === false ? tasksOf(step) : [];
  const seen = new Set(hidden.map((content) => JSON.stringify(content)));
  const recorded = messagesOf(recordedEvents(step));
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
