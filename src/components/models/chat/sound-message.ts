import { isJsonObject } from "../../../core/json.ts";
import type {
  AssistantMessage,
  FunctionCall,
  FunctionExecutionResult,
  LLMMessage,
  UserMessage,
  UserPart,
} from "../../../core/models/llm-messages.ts";
import { toolNameOf } from "./tool-name.ts";

const sound = new WeakMap<LLMMessage, LLMMessage>();

/**
 * The messages with each field of the type that APIs expect; the same objects where nothing is wrong with them. A stored
 * conversation may hold what a server once answered: a call with a number as its id, a text of null.
 */
export function soundMessages(messages: readonly LLMMessage[]): LLMMessage[] {
  return messages.map((message) => {
    let existing = sound.get(message);
    if (existing === undefined) {
      existing = repaired(message);
      sound.set(message, existing);
    }
    return existing;
  });
}

function repaired(message: LLMMessage): LLMMessage {
  switch (message.type) {
    case "SystemMessage":
      return changed(message, { content: textOf(message.content) });
    case "UserMessage":
      return changed(message, {
        content: userContent(message.content),
        source: textOf(message.source),
      });
    case "AssistantMessage":
      return assistant(message);
    case "FunctionExecutionResultMessage":
      return changed(message, { content: same(message.content, listOf(message.content, result)) });
  }
}

function assistant(message: AssistantMessage): AssistantMessage {
  const { content, thought } = message;
  const said = thought === null ? null : textOf(thought);
  if (!Array.isArray(content)) return changed(message, { content: textOf(content), thought: said });
  const calls = listOf(content, call);
  // An empty list of calls is an answer without any, which APIs refuse as a list.
  return calls.length === 0
    ? changed(message, { content: said ?? "", thought: null })
    : changed(message, { content: same(content, calls), thought: said });
}

function userContent(content: UserMessage["content"]): UserMessage["content"] {
  if (!Array.isArray(content)) return textOf(content);
  const parts = content.filter(isPart);
  return parts.length === 0 ? "" : same(content, parts);
}

function isPart(part: UserPart): boolean {
  return typeof part === "string" || (isJsonObject(part) && typeof part["data"] === "string");
}

function call(given: FunctionCall): FunctionCall {
  const { id, name, arguments: args } = given;
  return changed(given, { id: textOf(id), name: sentName(name), arguments: textOf(args) });
}

function result(given: FunctionExecutionResult): FunctionExecutionResult {
  const { content, name, call_id } = given;
  return changed(given, {
    content: textOf(content),
    name: sentName(name),
    call_id: textOf(call_id),
  });
}

/** Stands in for the name of a call that has none. */
const UNNAMED = "unnamed_tool";

function sentName(name: unknown): string {
  return toolNameOf(textOf(name)) || UNNAMED;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value.toWellFormed();
  return value === null || value === undefined ? "" : (JSON.stringify(value) ?? "");
}

function isObject(value: unknown): boolean {
  return isJsonObject(value);
}

/** The objects of a list, each repaired. */
function listOf<T extends object>(list: readonly T[], repair: (item: T) => T): T[] {
  return Array.isArray(list) ? list.filter(isObject).map(repair) : [];
}

/** The first list where both have the same items. */
export function same<T extends readonly unknown[]>(before: T, after: T): T {
  const isSame =
    Array.isArray(before) &&
    before.length === after.length &&
    before.every((item, index) => item === after[index]);
  return isSame ? before : after;
}

/** The value with these fields; the value itself where it has them. */
export function changed<T extends object>(value: T, fields: Partial<T>): T {
  const isSame = Object.entries(fields).every(([name, field]) => value[name as keyof T] === field);
  return isSame ? value : { ...value, ...fields };
}
