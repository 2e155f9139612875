import { beginningOf } from "../../../core/cut.ts";
import {
  MOST_REQUEST_CHARACTERS,
  type ModelRequest,
} from "../../../contract/team/model-request.ts";
import { type JsonObject, mapTexts } from "../../../core/json.ts";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import { estimateTokens } from "../../../core/models/tokens/estimate.ts";
import type { RequestOfStep } from "../../../core/turn/turn-context.ts";

/** A longer context is counted by its length: a tokenizer would take seconds. */
const MOST_COUNTED = 400_000;

/** The parts of a request's context, in estimated tokens. */
export async function contextOf({
  client,
  messages,
  options: { tools = [] },
}: RequestOfStep): Promise<Pick<ModelRequest["context"], "parts" | "total" | "method">> {
  const characters = JSON.stringify([messages, tools]).length;
  const method = characters > MOST_COUNTED ? "length" : "tokenizer";
  const count = async (some: readonly LLMMessage[]): Promise<number> => {
    if (some.length === 0) return 0;
    if (method === "length") return some.reduce((sum, one) => sum + estimateTokens(one), 0);
    return (await client.countTokens(some)) - (await client.countTokens([]));
  };
  const countTools = async (): Promise<number> => {
    if (tools.length === 0) return 0;
    if (method === "length") return Math.ceil(JSON.stringify(tools).length / 4);
    return (await client.countTokens([], tools)) - (await client.countTokens([]));
  };
  const system = messages.slice(0, messages[0]?.type === "SystemMessage" ? 1 : 0);
  const rest = messages.slice(system.length);
  const memory = rest.filter(({ type }) => type === "SystemMessage");
  const history = rest.filter(({ type }) => type !== "SystemMessage");
  const parts = [
    { part: "system" as const, messages: system.length, tokens: await count(system) },
    { part: "memory" as const, messages: memory.length, tokens: await count(memory) },
    { part: "history" as const, messages: history.length, tokens: await count(history) },
    { part: "tools" as const, messages: tools.length, tokens: await countTools() },
  ].map((part) => ({ ...part, tokens: Math.max(0, part.tokens) }));
  return { parts, total: parts.reduce((sum, { tokens }) => sum + tokens, 0), method };
}

/** The fields of a body besides the messages and the tools, in any of the APIs. */
export function parametersOf(body: JsonObject | null, request: RequestOfStep): JsonObject {
  if (body === null) {
    const { toolChoice, jsonOutput, stop, extraCreateArgs } = request.options;
    return {
      ...(toolChoice !== undefined && { tool_choice: toolChoice }),
      ...(jsonOutput != null && { json_output: jsonOutput }),
      ...(stop !== undefined && { stop: [...stop] }),
      ...extraCreateArgs,
    };
  }
  const { messages: _, input: _1, system: _2, instructions: _3, tools: _4, ...rest } = body;
  return rest;
}

const STEPS = [64_000, 16_000, 4_000, 1_000, 250];

type Shown = Pick<ModelRequest, "messages" | "tools" | "body" | "reply" | "parameters">;

/** The same within the bounds of an answer: first long texts are cut, then the oldest messages are left out. */
export function bounded(
  shown: Shown,
  most = MOST_REQUEST_CHARACTERS,
): Shown & Pick<ModelRequest, "shortened"> {
  const fits = (some: Shown): boolean =>
    Object.values(some).every((part) => JSON.stringify(part).length <= most);
  if (fits(shown)) return { ...shown, shortened: null };
  let shorter = shown;
  let longest_text = 0;
  for (const longest of STEPS) {
    longest_text = longest;
    shorter = mapTexts((text) => cut(text, longest), shown);
    if (fits(shorter)) return { ...shorter, shortened: { longest_text, messages_left_out: 0 } };
  }
  // Many short messages, tools or parts are left.
  const messages = lastOnes(shorter.messages, most);
  return {
    messages,
    tools: firstOnes(shorter.tools, most),
    parameters: JSON.stringify(shorter.parameters).length <= most ? shorter.parameters : {},
    body: null,
    reply: JSON.stringify(shorter.reply).length <= most ? shorter.reply : null,
    shortened: { longest_text, messages_left_out: shorter.messages.length - messages.length },
  };
}

function lastOnes<T>(items: readonly T[], most: number): T[] {
  return firstOnes(items.toReversed(), most).toReversed();
}

function firstOnes<T>(items: readonly T[], most: number): T[] {
  let size = 0;
  return items.filter((item) => (size += JSON.stringify(item).length + 1) <= most);
}

function cut(text: string, longest: number): string {
  if (text.length <= longest) return text;
  return `${beginningOf(text, longest)}… (${text.length - longest} more characters)`;
}
