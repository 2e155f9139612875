import { isJsonObject } from "#core/json.ts";
import type { JsonObject } from "troupe";
import { type Step, textOf } from "../trace.ts";
import {
  configOf,
  isLoading,
  isProvider,
  isString,
  mentions,
  newComponent,
  type Place,
} from "./place.ts";
import { cannotRun } from "./unrunnable-graph.ts";

/** Deviation `strict-values`: Troupe refuses a value when it is loaded, with which AutoGen can only fail later. */
export function onlyFailsLater(place: Place): boolean {
  const { step, played } = place;
  if (step["error"] !== undefined || played.error === undefined) return false;
  if (step.op === "load_state") return isOfOtherType(place);
  return isLoading(step) && isRefusedValue(place) && runsFail(place);
}

/** The placeholders of the templates of agents and teams, by their key. */
const TEMPLATES = {
  tool_call_summary_format: { tool_name: {}, arguments: {}, result: {}, is_error: {} },
  selector_prompt: { roles: {}, participants: {}, history: {} },
};

/** Each value with the words that name it in the refusal. */
const VALUES: readonly { words: RegExp; test: (node: JsonObject) => boolean }[] = [
  {
    words: /max_turns/,
    test: (node) => Number(configOf(node)["max_turns"] ?? 1) <= 0,
  },
  {
    words: /max_messages/,
    test: (node) => Number(configOf(node)["max_messages"] ?? 1) <= 0,
  },
  {
    words: /format/,
    test: (node) => {
      const { json_schema, format_string } = configOf(node);
      return isString(format_string) && hasUnknownField(format_string, json_schema);
    },
  },
  {
    words: /format/,
    test: (node) => {
      const { structured_message_factory: factory, output_content_type_format: format } =
        configOf(node);
      const schema = isJsonObject(factory) ? configOf(factory)["json_schema"] : undefined;
      return isString(format) && hasUnknownField(format, schema);
    },
  },
  {
    words: /tool_call_summary_format|selector_prompt/,
    test: (node) =>
      Object.entries(TEMPLATES).some(([key, properties]) => {
        const template = configOf(node)[key];
        return isString(template) && hasUnknownField(template, { properties });
      }),
  },
  {
    words: /graph|termination|participant|node|edge/i,
    test: (node) => isProvider("GraphFlow")(node) && cannotRun(node),
  },
];

function isRefusedValue(place: Place): boolean {
  const { message = "", code } = place.played.error ?? {};
  if (code === null) return false;
  return VALUES.some(
    ({ words, test }) => words.test(message) && mentions(newComponent(place), test),
  );
}

function hasUnknownField(format: string, schema: unknown): boolean {
  const properties = isJsonObject(schema) ? schema["properties"] : undefined;
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  const fields = [...format.replaceAll(/\{\{|\}\}/g, "").matchAll(/\{([^{}!:.[]*)/g)];
  return fields.some(([, field = ""]) => !known.includes(field));
}

/** AutoGen has no run of that subject that succeeds and says anything. */
function runsFail({ trace, index, step }: Place): boolean {
  if (step.op !== "use" && step.op !== "new") return true;
  const later: Step[] = trace.steps.slice(trace.steps[index] === step ? index + 1 : index);
  const end = later.findIndex(({ op }) => op === "use" || op === "new");
  const own = end < 0 ? later : later.slice(0, end);
  return own.every((run) => run.op !== "run" || run.error !== undefined || isSilent(run));
}

function isSilent({ events }: Step): boolean {
  return (
    Array.isArray(events) &&
    events.length > 0 &&
    events.every(
      (event) =>
        isJsonObject(event) && Array.isArray(event["messages"]) && event["messages"].length === 0,
    )
  );
}

/** Whether a state says that it is of another type than the one Troupe names. */
function isOfOtherType({ step, played }: Place): boolean {
  const { code, issues = [] } = played.error ?? {};
  const types = new Set<string>();
  mentions(step["state"], ({ type }) => {
    types.add(textOf(type));
    return false;
  });
  return (
    code === "invalid_state" &&
    issues.length > 0 &&
    issues.every(({ path }) => /(?:^|\.)type$/.test(path)) &&
    types.size > 0
  );
}
