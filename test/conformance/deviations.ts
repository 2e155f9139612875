import { readFileSync } from "node:fs";
import * as z from "zod";
import { TaskError, TroupeError } from "../../src/core/errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../../src/core/json.ts";
import type { Played } from "./ops/op.ts";
import { eachObject, type Step, textOf, type Trace } from "./trace.ts";

const listSchema = z.array(z.object({ trace: z.string(), step: z.number(), class: z.string() }));

/** A place where Troupe differs from the recording on purpose. */
export type Deviation = z.infer<typeof listSchema>[number];

/** The places known by trace and step. */
export function readDeviations(): Deviation[] {
  const file = new URL("deviations.json", import.meta.url);
  return listSchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** A step that differs from its recording. */
export interface Place {
  trace: Trace;
  index: number;
  step: Step;
  played: Played;
  /** Component JSON of the subject. */
  subject: JsonObject | undefined;
}

/** Recognises a deviation that shows in the same way in every trace. */
interface Recogniser {
  class: string;
  explains(place: Place): boolean;
}

const UNREGISTERED = /Message type .*StructuredMessage\[.*\].* is not registered/s;

/**
 * What can be told from the step alone. Each accepts exactly what its class says: AutoGen refused, for that reason and
 * no other, what Troupe documents to accept.
 */
const RECOGNISERS: readonly Recogniser[] = [
  {
    class: "chunks",
    explains: ({ step, played, subject }) => {
      if (step.op !== "run" || step["error"] !== undefined || played.error !== undefined) {
        return false;
      }
      const counting = mentions(
        subject,
        (node) =>
          isProvider("MaxMessageTermination")(node) &&
          isJsonObject(node["config"]) &&
          node["config"]["include_agent_event"] === true,
      );
      if (!counting || !(mentions(step["events"], isChunk) || hasStreamingTool(subject)))
        return false;
      const recorded = shapes(recordedEvents(step));
      const ours = shapes(eventsOf(played));
      return recorded.every((shape, index) => shape === ours[index]);
    },
  },
  {
    class: "typed-in-team",
    explains: ({ step, played, subject }) =>
      (UNREGISTERED.test(errorText(step)) ||
        mentions(step["events"] ?? step["result"], ({ content }) =>
          UNREGISTERED.test(textOf(content)),
        )) &&
      mentions(subject, ({ structured_message_factory }) =>
        isJsonObject(structured_message_factory),
      ) &&
      played.error === undefined &&
      (step.op === "call_tool" ||
        mentions(eventsOf(played), ({ type }) => textOf(type).startsWith("StructuredMessage["))),
  },
  {
    class: "registered-types",
    explains: ({ step, played }) => {
      const type = /^Unknown message type: (.+)$/.exec(errorText(step))?.[1];
      if (type === undefined || played.error !== undefined) return false;
      if (step.op === "message") return keeps(step["input"], played.actual["dump"]);
      const given = step["state"] ?? step["task"] ?? step["messages"];
      return mentions(given, (node) => node["type"] === type);
    },
  },
  {
    class: "after-error",
    explains: ({ trace, index, step, played }) =>
      step.op === "run" &&
      lastRun(trace, index)?.["error"] !== undefined &&
      recordedEvents(step).length === 1 &&
      played.error === undefined,
  },
  {
    class: "lone-team",
    explains: ({ step, played, subject }) =>
      step.op === "run" &&
      errorText(step).includes("Task list cannot be empty") &&
      !(Array.isArray(step["task"]) && step["task"].length === 0) &&
      hasInnerTeam(subject) &&
      played.error === undefined,
  },
  {
    class: "string-handoff",
    explains: ({ step, played }) =>
      loads(step, played) &&
      fieldsAre(step, ["handoffs"]) &&
      mentions(
        step["component"],
        ({ handoffs }) => Array.isArray(handoffs) && handoffs.some(isString),
      ),
  },
  {
    class: "token-usage",
    explains: ({ step, played }) =>
      loads(step, played) &&
      fieldsAre(step, ["max_total_token", "max_prompt_token", "max_completion_token"]) &&
      mentions(step["component"], isProvider("TokenUsageTermination")),
  },
  {
    class: "initial-messages",
    explains: ({ step, played }) =>
      loads(step, played) &&
      mentions(
        step["component"],
        (node) =>
          isBoundedContext(node) &&
          isJsonObject(node["config"]) &&
          "initial_messages" in node["config"],
      ),
  },
  {
    class: "tool-dump",
    explains: ({ step, played }) =>
      loads(step, played) &&
      kindOf(step) !== "validation" &&
      mentions(step["component"], isProvider("FunctionTool")),
  },
  {
    class: "renamed-tool",
    explains: ({ step, played, subject }) =>
      step.op === "call_tool" &&
      step["streaming"] === true &&
      isJsonObject(step["result"]) &&
      step["result"]["is_error"] === true &&
      mentions(subject, ({ tool_overrides }) => isNewNameIn(step["name"], tool_overrides)) &&
      isJsonObject(played.actual["result"]) &&
      played.actual["result"]["is_error"] === false,
  },
];

/** The class of deviation that explains why a step differs, if one can be told from the step alone. */
export function recognise(place: Place): string | undefined {
  return RECOGNISERS.find((recogniser) => recogniser.explains(place))?.class;
}

/**
 * Whether a run failed in its midst, as it should. AutoGen's team is then left half-way and does not run again, or
 * drains what is left; Troupe's is where its last turn ended (deviation `after-error`).
 */
export function leavesApart({ step, played, subject }: Place): boolean {
  const { error } = step;
  if (step.op !== "run" || !isJsonObject(error) || played.error === undefined) return false;
  if (played.error instanceof TaskError) return false;
  return (
    error["type"] === "RuntimeError" ||
    !mentions(subject, ({ participants }) => Array.isArray(participants))
  );
}

/** Whether a step failed in a way that nothing in a trace can be the reason of. */
export function isBroken({ error }: Played): boolean {
  if (error === undefined) return false;
  return !(error instanceof TroupeError) || BROKEN.has(error.code);
}

const BROKEN: ReadonlySet<string> = new Set(["internal", "already_running"]);

/** Who said what kind of thing, pieces of text left out. */
function shapes(events: readonly Json[]): string[] {
  const streamed = events.filter((event) => !isResult(event));
  const said = streamed.length > 0 ? streamed : events.flatMap((event) => messagesOf(event));
  return said
    .filter((event) => !isChunk(event))
    .map((event) => `${typeOf(event)} ${isJsonObject(event) ? textOf(event["source"]) : ""}`);
}

function messagesOf(result: Json): readonly Json[] {
  return isJsonObject(result) && Array.isArray(result["messages"]) ? result["messages"] : [];
}

/** Deviation `chunks`: pieces of an inner agent's text stay in AutoGen's results and states. Leaves them out. */
export function withoutChunks(step: Step): Step {
  const events = step["events"];
  if (Array.isArray(events))
    return {
      ...step,
      events: events.map((event) => (isResult(event) ? cleaned(event, chunkIds(events)) : event)),
    };
  return "state" in step ? { ...step, state: cleaned(step["state"] ?? null, new Set()) } : step;
}

function cleaned<T extends Json>(value: T, chunks: ReadonlySet<string>): T {
  return clean(value, chunks) as T;
}

function clean(value: Json, chunks: ReadonlySet<string>): Json {
  if (Array.isArray(value)) {
    return value
      .filter((item) => !isChunk(item) && !(isString(item) && chunks.has(item)))
      .map((item) => clean(item, chunks));
  }
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(item, chunks)]));
}

function chunkIds(events: readonly Json[]): Set<string> {
  return new Set(events.filter(isChunk).map((event) => textOf(event["id"])));
}

function isChunk(value: Json): value is JsonObject {
  return typeOf(value) === "ModelClientStreamingChunkEvent";
}

function isResult(value: Json): value is JsonObject {
  return typeOf(value) === "TaskResult";
}

/** Whether AutoGen could not load or dump a component that Troupe loads and dumps unchanged. */
function loads(step: Step, { error, actual }: Played): boolean {
  return (
    step.op === "component" &&
    step["error"] !== undefined &&
    error === undefined &&
    actual["dump"] !== undefined
  );
}

function kindOf({ error }: Step): Json | undefined {
  return isJsonObject(error) ? error["kind"] : undefined;
}

function fieldsAre({ error }: Step, allowed: readonly string[]): boolean {
  const fields = isJsonObject(error) ? error["fields"] : undefined;
  return (
    Array.isArray(fields) &&
    fields.length > 0 &&
    fields.every((field) => allowed.includes(textOf(field)))
  );
}

function errorText({ error }: Step): string {
  return isJsonObject(error) ? textOf(error["message"]) : "";
}

/** The run before a step, on the same subject. */
function lastRun({ steps }: Trace, index: number): Step | undefined {
  const before = steps.slice(0, index).toReversed();
  const renewed = before.findIndex(({ op }) => op === "new" || op === "use");
  return before.slice(0, renewed < 0 ? undefined : renewed).find(({ op }) => op === "run");
}

function recordedEvents({ events }: Step): Json[] {
  return Array.isArray(events) ? events : [];
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

function eventsOf({ actual }: Played): Json[] {
  return Array.isArray(actual["events"]) ? actual["events"] : [];
}

function typeOf(value: Json | undefined): string {
  return isJsonObject(value) ? textOf(value["type"]) : "";
}

/** Whether every key of a message of unknown type came through. */
function keeps(input: Json | undefined, dump: Json | undefined): boolean {
  if (!isJsonObject(input) || !isJsonObject(dump)) return false;
  return Object.entries(input).every(
    ([key, value]) => key === "id" || JSON.stringify(dump[key]) === JSON.stringify(value),
  );
}

function mentions(value: Json | undefined, test: (node: JsonObject) => boolean): boolean {
  let found = false;
  if (value !== undefined) eachObject(value, (node) => (found ||= test(node)));
  return found;
}

function isProvider(className: string): (node: JsonObject) => boolean {
  return ({ provider }) => isString(provider) && provider.split(".").at(-1) === className;
}

function isBoundedContext({ provider }: JsonObject): boolean {
  return (
    isString(provider) &&
    /\.(?:Buffered|HeadAndTail|TokenLimited)ChatCompletionContext$/.test(provider)
  );
}

function isNewNameIn(name: Json | undefined, overrides: Json | undefined): boolean {
  return (
    isJsonObject(overrides) &&
    Object.values(overrides).some((entry) => isJsonObject(entry) && entry["name"] === name)
  );
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}
