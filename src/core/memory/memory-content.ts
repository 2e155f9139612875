import * as z from "zod";
import { imageSchema } from "../models/llm-messages.ts";
import { jsonObjectSchema } from "../json.ts";

/** One remembered thing (AutoGen `MemoryContent`). `mime_type` is one of AutoGen's or any other text. */
export const memoryContentSchema = z.object({
  content: z.union([z.string(), imageSchema, jsonObjectSchema]),
  mime_type: z.string(),
  metadata: jsonObjectSchema.nullable().default(null),
});
export type MemoryContent = z.infer<typeof memoryContentSchema>;
