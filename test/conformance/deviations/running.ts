import { type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import { type Step, textOf } from "../trace.ts";
import { repeatsSpeaker } from "./excluded-speaker.ts";
import { saysTasksAgain } from "./hidden-task.ts";
import { gaveUpOnLedger } from "./ledger-speaker.ts";
import {
  areTask,
  configOf,
  eventsOf,
  isBeginning,
  isChunk,
  isProvider,
  isString,
  mentions,
  messagesOf,
  type Recogniser,
  recordedEvents,
  recordedWords,
  shapeOf,
  sinceRenewed,
} from "./place.ts";

const UNREGISTERED = /Message type .*StructuredMessage\[.*\].* is not registered/s;

/** What a run, or a call of a tool, does otherwise on purpose. */
export const RUNNING: readonly Recogniser[] = [
  {
    class: "chunks",
    explains: (place) => {
      const { step, played, subject } = place;
      if (step.op !== "run" || step["error"] !== undefined || played.error !== undefined) {
        return false;
      }
      const counts = mentions(
        subject,
        (node) =>
          isProvider("MaxMessageTermination")(node) &&
          configOf(node)["include_agent_event"] === true,
      );
      const streams = mentions(step["events"], isChunk) || hasStreamingTool(subject);
      return counts && streams && isBeginning(place);
    },
  },
  { class: "hidden-task", explains: saysTasksAgain },
  { class: "excluded-speaker", explains: repeatsSpeaker },
  {
    class: "empty-arguments",
    explains: ({ step, played }) =>
      step.op === "run" &&
      played.error === undefined &&
      mentions(step["events"], ({ arguments: text }) => isString(text) && text.trim() === "") &&
      recordedWords(step).some((text) => text.startsWith("Error: Expecting value: ")),
  },
  {
    class: "early-task",
    explains: ({ step, played }) =>
      step.op === "run" &&
      step["error"] !== undefined &&
      played.error !== undefined &&
      played.error.code !== null &&
      recordedEvents(step).length === 0 &&
      step["output_task_messages"] !== false &&
      areTask(eventsOf(played), step),
  },
  {
    class: "ledger-speaker",
    explains: (place) =>
      gaveUpOnLedger(place) &&
      (place.step.op === "run" ? isBeginning(place) : place.step.op === "call_tool"),
  },
  {
    class: "timeout",
    explains: (place) => {
      const { trace, index, step, played, subject } = place;
      const waited = sinceRenewed(trace, index).some(({ op }) => op === "wait");
      return (
        step.op === "run" &&
        played.error === undefined &&
        waited &&
        mentions(subject, isProvider("TimeoutTermination")) &&
        mentions(step["events"], ({ stop_reason }) => /\bTimeout\b/.test(textOf(stop_reason))) &&
        isBeginning(place)
      );
    },
  },
  {
    class: "tool-sequence",
    explains: ({ step, played, subject }) => {
      if (step.op !== "run") return false;
      if (played.error !== undefined && step["error"] === undefined) return false;
      const tools = taskTools(subject);
      const recorded = messagesOf(recordedEvents(step));
      const at = recorded.findIndex((message) => callsTwice(message, tools));
      const ours = messagesOf(eventsOf(played)).map(shapeOf);
      return at >= 0 && recorded.slice(0, at + 1).every((one, i) => shapeOf(one) === ours[i]);
    },
  },
  {
    class: "typed-in-team",
    explains: ({ step, played, subject }) =>
      recordedWords(step).some((text) => UNREGISTERED.test(text)) &&
      mentions(subject, ({ structured_message_factory }) =>
        isJsonObject(structured_message_factory),
      ) &&
      played.error === undefined &&
      (step.op === "call_tool" ||
        mentions(eventsOf(played), ({ type }) => textOf(type).startsWith("StructuredMessage["))),
  },
  {
    class: "filter-edges",
    explains: (place) =>
      place.step.op === "run" &&
      place.played.error === undefined &&
      mentions(place.subject, ({ per_source }) =>
        Array.isArray(per_source)
          ? per_source.some((filter) => isJsonObject(filter) && filter["count"] === 0)
          : false,
      ) &&
      isBeginning(place),
  },
  {
    class: "after-error",
    explains: ({ trace, index, step, played }) =>
      step.op === "run" &&
      sinceRenewed(trace, index).findLast(({ op }) => op === "run")?.["error"] !== undefined &&
      recordedEvents(step).length === 1 &&
      played.error === undefined,
  },
  {
    class: "after-error",
    explains: ({ trace, index, step, played, subject }) => {
      if (step.op !== "run" && step.op !== "call_tool") return false;
      if (played.error?.code === null) return false;
      // A team or an agent that is a tool puts its failure into a result, and is left half-way all the same.
      const tools = taskTools(subject);
      const failed = new Set(
        sinceRenewed(trace, index).flatMap((earlier) => failedTools(earlier, tools)),
      );
      return step.op === "call_tool"
        ? failed.has(textOf(step["name"]))
        : mentions(step["events"], ({ name }) => failed.has(textOf(name)));
    },
  },
  {
    class: "lone-team",
    explains: ({ step, played, subject }) =>
      recordedWords(step).some((text) => text.includes("Task list cannot be empty")) &&
      !(Array.isArray(step["task"]) && step["task"].length === 0) &&
      hasInnerTeam(subject) &&
      // It went on; what may have failed later is another matter.
      (step.op === "call_tool"
        ? !JSON.stringify(played.actual).includes("Task list cannot be empty")
        : step.op === "run" &&
          (step["error"] === undefined || eventsOf(played).length > recordedEvents(step).length)),
  },
  {
    class: "renamed-tool",
    explains: ({ step, played, subject }) => {
      const refused = notFound(step);
      const renamed = mentions(subject, ({ tool_overrides }) =>
        isJsonObject(tool_overrides)
          ? Object.values(tool_overrides).some(
              (entry) => isJsonObject(entry) && entry["name"] === refused,
            )
          : false,
      );
      const still = JSON.stringify(played.actual).includes(`Tool ${refused} not found.`);
      return refused !== undefined && renamed && !still && played.error === undefined;
    },
  },
];

/** The name of a tool that a recorded call did not find. */
function notFound(step: Step): string | undefined {
  if (step.op !== "call_tool" && step.op !== "run") return undefined;
  for (const text of recordedWords(step)) {
    const name = /^Tool (.+) not found\.$/.exec(text)?.[1];
    if (name !== undefined) return name;
  }
  return undefined;
}

/** Which of some tools gave a recorded error. */
function failedTools({ op, name, result, items, events }: Step, tools: Set<string>): string[] {
  const failed = new Set<string>();
  if (op === "call_tool") {
    const isError = mentions(result ?? items, ({ is_error }) => is_error === true);
    if (isError && tools.has(textOf(name))) failed.add(textOf(name));
  }
  if (op === "run") {
    mentions(events, (node) => {
      const tool = textOf(node["name"]);
      if (node["is_error"] === true && tools.has(tool)) failed.add(tool);
      return false;
    });
  }
  return [...failed];
}

/** The names of tools that are agents or teams. */
function taskTools(subject: JsonObject | undefined): Set<string> {
  const names = new Set<string>();
  mentions(subject, (node) => {
    const { agent, name } = configOf(node);
    if (isProvider("TeamTool")(node)) names.add(textOf(name));
    if (isProvider("AgentTool")(node) && isJsonObject(agent)) {
      names.add(textOf(configOf(agent)["name"]));
    }
    return false;
  });
  return names;
}

/** Whether a model asks for the same one of some tools twice at once. */
function callsTwice({ type, content }: JsonObject, tools: ReadonlySet<string>): boolean {
  if (type !== "ToolCallRequestEvent" || !Array.isArray(content)) return false;
  const names = content.map((call) => (isJsonObject(call) ? textOf(call["name"]) : ""));
  return names.some((name, index) => tools.has(name) && names.indexOf(name) !== index);
}

function hasInnerTeam(subject: JsonObject | undefined): boolean {
  return mentions(
    subject,
    ({ participants }) =>
      Array.isArray(participants) &&
      participants.some((one) => isJsonObject(one) && one["component_type"] === "team"),
  );
}

/** A plain run does not show the pieces of text that AutoGen counts. */
function hasStreamingTool(subject: JsonObject | undefined): boolean {
  return mentions(subject, (node) => {
    const isTask = isProvider("AgentTool")(node) || isProvider("TeamTool")(node);
    return isTask && mentions(node["config"], (inner) => inner["model_client_stream"] === true);
  });
}
