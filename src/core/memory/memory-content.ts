import * as z from "zod";
import { StateError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import { type JsonObject, jsonObjectSchema } from "../json.ts";
import { type Image, imageSchema } from "../models/llm-messages.ts";
import { pythonStr } from "../text/python.ts";

/** One remembered thing (AutoGen `MemoryContent`). `mime_type` is one of AutoGen's or any other text. */
export const memoryContentSchema = z.object({
  content: z.union([z.string(), imageSchema, jsonObjectSchema]),
  mime_type: z.string(),
  metadata: jsonObjectSchema.nullable().default(null),
});
export type MemoryContent = z.infer<typeof memoryContentSchema>;

export const memoryContentsSchema = z.array(memoryContentSchema);

const stateSchema = z.object({ memory_contents: memoryContentsSchema });

/** What a memory's saved state holds. @throws StateError */
export function loadContents(state: JsonObject, name: string): MemoryContent[] {
  const { data, error } = stateSchema.safeParse(state);
  if (data !== undefined) return data.memory_contents;
  const issues = issuesOf(error);
  throw new StateError(`not a state of the memory "${name}": ${listIssues(issues)}`, { issues });
}

/** How a model reads it. Pictures cannot stand in a system message's text. */
export function contentText(content: MemoryContent["content"]): string {
  return isPicture(content) ? "[image]" : pythonStr(content);
}

export function isPicture(content: MemoryContent["content"]): content is Image {
  return typeof content === "object" && imageSchema.safeParse(content).success;
}
