import * as z from "zod";
import { beginningOf, endOf } from "../cut.ts";
import { isJsonObject } from "../json.ts";
import type { ChatMessage } from "../messages/message.ts";
import { toModelText } from "../messages/views.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import { asData } from "../memory/as-data.ts";
import type { MemoryHost } from "../memory/memory-host.ts";
import { readJson } from "../text/model-json.ts";

const heardSchema = z.object({ id: z.string(), source: z.string(), text: z.string() });

/** A message that an agent heard or said in a run. */
export type Heard = z.infer<typeof heardSchema>;

const factSchema = z.object({ text: z.string(), message: z.string().nullable() });

/** A fact that a model has found, and the id of the message that it is from. */
export type Fact = z.infer<typeof factSchema>;

/** The material of a run to learn from; `facts` are known once a model has found them. */
export const lessonSchema = z.object({
  heard: z.array(heardSchema),
  facts: z.array(factSchema).nullable(),
});

export type Lesson = z.infer<typeof lessonSchema>;

/** The end of a long conversation that is read for facts, in characters. */
const LONGEST_TRANSCRIPT = 60_000;
const MOST_FACTS = 50;
const LONGEST_FACT = 2000;

const PROMPT =
  "You keep the long-term memory of an assistant. From the conversation, note the facts that will still matter in later " +
  "conversations: who the user is, what they prefer, decided or plan, and what was found out for them. Each fact is one " +
  "sentence that is understood without the conversation, in the conversation's language. Leave out small talk, what only " +
  "mattered for this task, and what is known already. Where a known fact has changed, note it as it is now. " +
  "Never note passwords or keys.";

const FORM =
  'Answer with JSON only: {"facts": ["...", "..."]}, with an empty list if there is nothing to note.';

/** The messages of a conversation, each once. */
export function heardIn(messages: readonly ChatMessage[]): Heard[] {
  return messages.map((message) => ({
    id: message.id,
    source: message.source,
    text: toModelText(message),
  }));
}

/** The messages that a model reads for facts: the last ones, if they are many. */
export function latestOf(heard: readonly Heard[]): Heard[] {
  let length = 0;
  const first = heard.findLastIndex(({ text }) => (length += text.length) > LONGEST_TRANSCRIPT);
  return heard.slice(Math.max(0, first));
}

/** The request for the facts of a conversation. @param known facts that need not be noted again */
export function extractionRequest(
  heard: readonly Heard[],
  known: readonly string[],
  prompt: string | null,
  memory: Pick<MemoryHost, "mark">,
): LLMMessage[] {
  const transcript = endOf(
    heard.map(({ source, text }) => `${source}: ${text}`).join("\n\n"),
    LONGEST_TRANSCRIPT,
  );
  const parts = [
    ...(known.length > 0
      ? [asData("known", known.map((text) => `- ${text}`).join("\n"), memory)]
      : []),
    asData("conversation", transcript, memory),
    FORM,
  ];
  return [
    { type: "SystemMessage", content: prompt ?? PROMPT },
    { type: "UserMessage", source: "user", content: parts.join("\n") },
  ];
}

/**
 * The facts in a model's answer: a list in JSON, also in a code block or as the value of a key, of texts or of objects with
 * a text; otherwise its lines.
 */
export function readFacts(answer: string, heard: readonly Heard[]): Fact[] {
  const texts = (fromJson(answer) ?? lines(answer))
    .map((text) => beginningOf(text.trim(), LONGEST_FACT))
    .filter((text) => text !== "");
  return texts.slice(0, MOST_FACTS).map((text) => ({ text, message: sourceOf(text, heard) }));
}

function fromJson(answer: string): string[] | undefined {
  const reading = readJson(answer, (value) => ({ value }));
  return "value" in reading ? textsIn(reading.value) : undefined;
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (!isJsonObject(value)) return [];
  const text = ["content", "text", "fact", "memory"].map((key) => value[key]).find(isText);
  if (text !== undefined) return [text];
  return Object.values(value).filter(Array.isArray).flatMap(textsIn);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function lines(answer: string): string[] {
  return answer
    .split("\n")
    .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ""))
    .filter((line) => !/^\s*(none|nothing|no facts)\W*$/i.test(line));
}

/** The message that shares most words with a fact; of equal ones the latest. */
function sourceOf(fact: string, heard: readonly Heard[]): string | null {
  const words = wordsOf(fact);
  let best: { id: string; shared: number } | undefined;
  for (const { id, text } of heard) {
    const shared = [...wordsOf(text)].filter((word) => words.has(word)).length;
    if (best === undefined || shared >= best.shared) best = { id, shared };
  }
  return best?.id ?? null;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? []);
}
