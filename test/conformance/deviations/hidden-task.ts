import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { Step } from "../trace.ts";
import { isProvider, isResult } from "./place.ts";

/** Deviation `hidden-task`: AutoGen's MagenticOne shows a task that was to be hidden. Leaves it out. */
export function withoutHiddenTask(step: Step, subject: JsonObject | undefined): Step {
  const { op, task, events } = step;
  if (op !== "run" || step["output_task_messages"] !== false || !Array.isArray(events)) return step;
  if (subject === undefined || !isProvider("MagenticOneGroupChat")(subject)) return step;
  const count = Array.isArray(task) ? task.length : 1;
  const streamed = events.filter((event) => !isResult(event));
  return {
    ...step,
    events: [
      ...streamed.slice(count),
      ...events.filter(isResult).map((end) => without(end, count)),
    ],
  };
}

function without(result: JsonObject, count: number): Json {
  const { messages } = result;
  return { ...result, messages: Array.isArray(messages) ? messages.slice(count) : [] };
}
