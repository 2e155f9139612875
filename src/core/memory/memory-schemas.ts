import * as z from "zod";
import { jsonObjectSchema } from "../json-object.ts";
import type { JsonObject } from "../json.ts";
import { type ImageContent, imageSchema } from "../models/llm-messages.ts";
import { LANGUAGES, TEXT_LANGUAGES } from "../search/languages.ts";
import { parseState } from "../state/load-state.ts";
import { pythonStr } from "../text/python.ts";

/** One item of a memory (AutoGen `MemoryContent`). `mime_type` is one of AutoGen's or any other text. */
export const memoryContentSchema = z.object({
  content: z.union([z.string(), imageSchema, jsonObjectSchema]),
  mime_type: z.string(),
  metadata: jsonObjectSchema.nullable().default(null),
});
type MemoryContent = z.infer<typeof memoryContentSchema>;

export const memoryContentsSchema = z.array(memoryContentSchema);

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);

export const metadataFilterSchema = z.record(
  z.string(),
  z.union(
    [scalarSchema, z.array(scalarSchema).min(1)],
    "must be a text, a number or a boolean, or a list of them",
  ),
  "must be an object with the metadata that a content must have",
);

/** The language of texts that are found by their words. */
export const textLanguageSchema = z.enum(
  TEXT_LANGUAGES,
  `must be auto or the code of a language whose word endings are known: ${LANGUAGES.join(", ")}`,
);

const stateSchema = z.object({ memory_contents: memoryContentsSchema });

/** The contents in a memory's saved state. @throws StateError */
export function loadContents(state: JsonObject, name: string): MemoryContent[] {
  return parseState(stateSchema, state, `a state of the memory "${name}"`).memory_contents;
}

/** A content as text for a model. A system message cannot contain images. */
export function contentText(content: MemoryContent["content"]): string {
  return isPicture(content) ? "[image]" : pythonStr(content);
}

export function isPicture(content: MemoryContent["content"]): content is ImageContent {
  return typeof content === "object" && imageSchema.safeParse(content).success;
}
