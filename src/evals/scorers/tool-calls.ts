import * as z from "zod";
import { jsonObjectSchema } from "../../core/json-object.ts";
import { isJsonObject, type JsonObject, parsedJson, sortedJson } from "../../core/json.ts";
import type { Message } from "../../core/messages/message.ts";
import { type Score, scorerDefinition, verdict } from "./scorer.ts";

const callSchema = z.strictObject({
  name: z.string().min(1),
  /** Arguments that the call must have; others do not matter. */
  arguments: jsonObjectSchema.optional(),
});
type WantedCall = z.infer<typeof callSchema>;

const configSchema = z.strictObject({
  calls: z.array(callSchema),
  /**
   * `exact`: these calls in this order and no others; `any`: these in any order and no others; `subset`: these in any order, and
   * perhaps others.
   */
  order: z.enum(["any", "exact", "subset"]),
});

interface MadeCall {
  name: string;
  arguments: JsonObject;
}

/** Compares the calls of tools that a run made with those that are wanted. */
export const toolCalls = scorerDefinition(
  "ToolCalls",
  configSchema,
  ({ calls, order }) =>
    (run) => {
      const made = callsIn(run.messages);
      return order === "exact" ? inOrder(calls, made) : inAnyOrder(calls, made, order === "any");
    },
);

function callsIn(messages: readonly Message[]): MadeCall[] {
  return messages.flatMap((message) =>
    message.type === "ToolCallRequestEvent"
      ? message.content.map(({ name, arguments: text }) => {
          const value = parsedJson(text);
          return { name, arguments: isJsonObject(value) ? value : {} };
        })
      : [],
  );
}

function inOrder(wanted: readonly WantedCall[], made: readonly MadeCall[]): Score {
  for (const [index, one] of wanted.entries()) {
    const call = made[index];
    if (call === undefined) return verdict(false, `call ${index + 1}, ${shown(one)}, is missing`);
    if (!fits(one, call)) {
      return verdict(false, `call ${index + 1} is ${shown(call)} instead of ${shown(one)}`);
    }
  }
  const more = made[wanted.length];
  return verdict(more === undefined, more === undefined ? "" : `${shown(more)} was not wanted`);
}

/** Finds a call for each wanted one: one that names arguments may not lose its call to one that names none. */
function inAnyOrder(
  wanted: readonly WantedCall[],
  made: readonly MadeCall[],
  noOthers: boolean,
): Score {
  const takenBy = new Map<MadeCall, WantedCall>();
  const assign = (one: WantedCall, tried: Set<MadeCall>): boolean =>
    made.some((call) => {
      if (tried.has(call) || !fits(one, call)) return false;
      tried.add(call);
      const holder = takenBy.get(call);
      if (holder !== undefined && !assign(holder, tried)) return false;
      takenBy.set(call, one);
      return true;
    });
  for (const one of wanted) {
    if (!assign(one, new Set())) return verdict(false, `${shown(one)} was not called`);
  }
  const more = noOthers ? made.find((call) => !takenBy.has(call)) : undefined;
  return verdict(more === undefined, more === undefined ? "" : `${shown(more)} was not wanted`);
}

function fits(wanted: WantedCall, made: MadeCall): boolean {
  if (wanted.name !== made.name) return false;
  return Object.entries(wanted.arguments ?? {}).every(
    ([name, value]) => sortedJson(made.arguments[name]) === sortedJson(value),
  );
}

function shown({ name, arguments: args }: WantedCall): string {
  return `${name}(${args === undefined ? "" : JSON.stringify(args)})`;
}
