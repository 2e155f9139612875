import { type Json, type JsonObject } from "troupe";
import { isJsonObject } from "#core/json.ts";
import type { Played } from "../host.ts";
import { type Step, textOf } from "../trace.ts";
import {
  configOf,
  errorText,
  eventsOf,
  isLoading,
  isProvider,
  isString,
  mentions,
  newComponent,
  type Recogniser,
  recordedWords,
} from "./place.ts";
import { onlyFailsLater } from "./strict-values.ts";

const BOUNDED_CONTEXTS = ["Buffered", "HeadAndTail", "TokenLimited"].map((kind) =>
  isProvider(`${kind}ChatCompletionContext`),
);

/** What AutoGen refuses to load or to dump, and Troupe documents to accept. */
export const LOADING: readonly Recogniser[] = [
  {
    class: "registered-types",
    explains: ({ step, played }) => {
      // A tool puts the error of an inner team into its result.
      const event = firstMatch(step, /Message type <class '[\w.]+\.(\w+Event)'> is not registered/);
      // An inner team says what AutoGen forgets to register with the outer one; what may have failed later is another matter.
      if (event !== undefined) return mentions(eventsOf(played), ({ type }) => type === event);
      const type = /Unknown message type: (.+?)(?:<<more>>)?$/.exec(errorText(step))?.[1];
      if (type === undefined || played.error !== undefined) return false;
      if (step.op === "message") return keeps(step["input"], played.actual["dump"]);
      const given = step["state"] ?? step["task"] ?? step["messages"];
      return mentions(given, (node) => node["type"] === type);
    },
  },
  {
    class: "string-handoff",
    explains: ({ step, played }) =>
      loads(step, played) &&
      // AutoGen means to check the handoff, and stumbles over the text.
      (fieldsAre(step, ["handoffs"]) || errorText(step).startsWith("'str' object has no")) &&
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
    explains: ({ step, played, subject }) => {
      // AutoGen loads them as what they are in JSON, and stumbles when it wants to show them.
      const stumbles = recordedWords(step).some((text) => text.includes("'dict' object has no"));
      const shown = stumbles && !isLoading(step) && played.error === undefined;
      return (
        (shown || loads(step, played)) &&
        mentions(
          shown ? subject : step["component"],
          (node) =>
            BOUNDED_CONTEXTS.some((test) => test(node)) && "initial_messages" in configOf(node),
        )
      );
    },
  },
  {
    class: "filter-edges",
    explains: ({ step, played: { error } }) =>
      step["error"] === undefined &&
      error?.code === "component_validation" &&
      error.issues.every(({ path }) => /\.filter\.per_source\[\d+\]\.position$/.test(path)) &&
      mentions(
        step["component"],
        ({ source, position, count }) => isString(source) && position == null && count != null,
      ),
  },
  {
    class: "swarm-teams",
    explains: (place) =>
      loads(place.step, place.played) &&
      kindOf(place.step) !== "unknown_provider" &&
      mentions(newComponent(place), (node) => isProvider("Swarm")(node) && hasTeam(node)),
  },
  { class: "strict-values", explains: onlyFailsLater },
  {
    class: "tool-dump",
    explains: ({ step, played }) =>
      step.op === "component" &&
      loads(step, played) &&
      kindOf(step) !== "validation" &&
      mentions(step["component"], isProvider("FunctionTool")),
  },
];

/** Whether AutoGen could not load or dump a component that Troupe loads and dumps unchanged. */
function loads({ op, error: recorded }: Step, { error, actual }: Played): boolean {
  if (recorded === undefined || error !== undefined) return false;
  return op === "use" || op === "new" || (op === "component" && actual["dump"] !== undefined);
}

function firstMatch(step: Step, pattern: RegExp): string | undefined {
  for (const text of recordedWords(step)) {
    const found = pattern.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a component has a team among its participants. */
export function hasTeam(component: JsonObject): boolean {
  const { participants } = configOf(component);
  return (
    Array.isArray(participants) &&
    participants.some((one) => isJsonObject(one) && one["component_type"] === "team")
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

/** Whether every key of a message of unknown type came through. */
function keeps(input: Json | undefined, dump: Json | undefined): boolean {
  if (!isJsonObject(input) || !isJsonObject(dump)) return false;
  return Object.entries(input).every(
    ([key, value]) => key === "id" || JSON.stringify(dump[key]) === JSON.stringify(value),
  );
}
