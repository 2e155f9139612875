import type * as z from "zod";
import type { Json } from "../json.ts";
import type { LLMMessage } from "../models/llm-messages.ts";
import type { memoryContentSchema } from "./memory-schemas.ts";

// Without schemas: what starts a Worker imports this.

/** One item of a memory (AutoGen `MemoryContent`). */
export type MemoryContent = z.infer<typeof memoryContentSchema>;

/** The indexed text of a content: the text itself, or an object's keys and values. */
export function searchText(content: Json): string {
  if (typeof content !== "object" || content === null) return String(content);
  if (Array.isArray(content)) return content.map(searchText).join("\n");
  return Object.entries(content)
    .map(([key, value]) => `${key} ${searchText(value)}`)
    .join("\n");
}

/** The words of the last message, as a query; undefined before the first. Results of other memories are not a query. */
export function questionIn(messages: readonly LLMMessage[]): string | undefined {
  const last = messages.findLast(({ type }) => type !== "SystemMessage");
  if (last === undefined) return undefined;
  const { content } = last;
  if (typeof content === "string") return content;
  return content
    .map((part) => {
      if (typeof part === "string") return part;
      if ("arguments" in part) return `${part.name} ${part.arguments}`;
      return "content" in part ? part.content : "";
    })
    .join("\n");
}
