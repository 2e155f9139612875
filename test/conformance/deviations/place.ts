import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import type { Played } from "../host.ts";
import { eachObject, sameJson, type Step, textOf, type Trace } from "../trace.ts";

/** A step that differs from its recording. */
export interface Place {
  trace: Trace;
  index: number;
  step: Step;
  played: Played;
  /** Component JSON of the subject. */
  subject: JsonObject | undefined;
  /** The places before this one. */
  before: readonly Place[];
}

/** Recognises a deviation that shows in the same way in every trace. */
export interface Recogniser {
  class: string;
  explains(place: Place): boolean;
}

/** The steps before one, on the same subject. */
export function sinceRenewed({ steps }: Trace, index: number): Step[] {
  const before = steps.slice(0, index);
  return before.slice(before.findLastIndex(({ op }) => op === "new" || op === "use") + 1);
}

export function errorText({ error }: Step): string {
  return isJsonObject(error) ? textOf(error["message"]) : "";
}

/** All that AutoGen says in a step: its error, and every text in what it shows. A tool puts errors into its results. */
export function recordedWords(step: Step): string[] {
  const words: string[] = [];
  const collect = (value: Json | undefined): void => {
    if (isString(value)) words.push(value);
    else if (Array.isArray(value)) value.forEach(collect);
    else if (isJsonObject(value)) Object.values(value).forEach(collect);
  };
  for (const key of ["error", "events", "result", "items", "text"]) collect(step[key]);
  return words;
}

/** What a step that makes a new subject makes it from. */
export function newComponent({ trace, step }: Place): Json | undefined {
  return step["component"] ?? (step.op === "new" ? trace.component : undefined);
}

/** Whether a step loads a component. */
export function isLoading({ op }: Step): boolean {
  return op === "use" || op === "new" || op === "component" || op === "structured";
}

/** The messages of a task. */
export function taskMessages({ task }: Step): Json[] {
  if (isString(task)) return [{ type: "TextMessage", source: "user", content: task }];
  return [task ?? []].flat();
}

/** Whether events are the messages of a task, and nothing else. */
export function areTask(events: readonly Json[], step: Step): boolean {
  const task = taskMessages(step);
  const isSame = (event: Json, index: number): boolean => {
    const message = task[index];
    if (!isJsonObject(event) || !isJsonObject(message)) return false;
    return ["type", "source", "content"].every((key) =>
      sameJson(event[key] ?? null, message[key] ?? null),
    );
  };
  return events.length === task.length && events.length > 0 && events.every(isSame);
}

export function recordedEvents({ events }: Step): Json[] {
  return Array.isArray(events) ? events : [];
}

export function eventsOf({ actual }: Played): Json[] {
  return Array.isArray(actual["events"]) ? actual["events"] : [];
}

export function isChunk(value: Json): value is JsonObject {
  return typeOf(value) === "ModelClientStreamingChunkEvent";
}

export function isResult(value: Json): value is JsonObject {
  return typeOf(value) === "TaskResult";
}

/** Whether a component is a team. */
export function isTeam(component: JsonObject | undefined): boolean {
  return component !== undefined && Array.isArray(configOf(component)["participants"]);
}

export function isString(value: unknown): value is string {
  return typeof value === "string";
}

/** Whether an object somewhere in a value passes a test. */
export function mentions(value: Json | undefined, test: (node: JsonObject) => boolean): boolean {
  let found = false;
  if (value !== undefined) eachObject(value, (node) => (found ||= test(node)));
  return found;
}

/** A test for component JSON of a class. */
export function isProvider(className: string): (node: JsonObject) => boolean {
  return ({ provider }) => isString(provider) && provider.split(".").at(-1) === className;
}

export function configOf({ config }: JsonObject): JsonObject {
  return isJsonObject(config) ? config : {};
}

/** The messages of a run, pieces of text left out: those of the stream, or of a plain run's result. */
export function messagesOf(events: readonly Json[]): JsonObject[] {
  const streamed = events.filter((event) => !isResult(event));
  const said = streamed.length > 0 ? streamed : events.flatMap(inResult);
  return said.filter(isJsonObject).filter((event) => !isChunk(event));
}

/** Who says what kind of thing. */
export function shapeOf(message: JsonObject): string {
  return `${typeOf(message)} ${textOf(message["source"])}`;
}

/** Whether a recorded run is the beginning of what was played. */
export function isBeginning({ step, played }: Place): boolean {
  const ours = messagesOf(eventsOf(played)).map(shapeOf);
  return messagesOf(recordedEvents(step)).every(
    (message, index) => shapeOf(message) === ours[index],
  );
}

function inResult(result: Json): readonly Json[] {
  return isJsonObject(result) && Array.isArray(result["messages"]) ? result["messages"] : [];
}

function typeOf(value: Json): string {
  return isJsonObject(value) ? textOf(value["type"]) : "";
}
