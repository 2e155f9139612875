import * as z from "zod";
import { jsonObjectSchema } from "../../../../core/json-object.ts";
import type { JsonObject } from "../../../../core/json.ts";
import type { AssistantMessage, MakerData } from "../../../../core/models/llm-messages.ts";
import type { Maker } from "./maker.ts";

/**
 * Fields of an answer that are sent back unchanged. Servers name them differently: `reasoning_content` (DeepSeek, Kimi,
 * GLM, Qwen), `reasoning` (vLLM, Groq), `reasoning_details` (OpenRouter, MiniMax), `extra_content` of calls and
 * messages (Gemini), a list as the content (Mistral).
 */
const fieldsSchema = z.object({
  reasoning_content: z.string().optional(),
  reasoning: z.string().optional(),
  reasoning_details: z.array(jsonObjectSchema).optional(),
  extra_content: jsonObjectSchema.optional(),
  content: z.array(jsonObjectSchema).optional(),
  /** The `extra_content` of calls, by their ids. */
  calls: z.record(z.string(), jsonObjectSchema).optional(),
});
export type ProviderFields = z.infer<typeof fieldsSchema>;

/** Stands in for a signature that is not there: https://ai.google.dev/gemini-api/docs/thought-signatures */
const UNSIGNED: JsonObject = {
  google: { thought_signature: "skip_thought_signature_validator" },
};

/** Stands in for reasoning that is not there: Kimi refuses an empty text. */
const UNREASONED = " ";

/** The provider data of an answer for the next request; undefined if the provider needs none. */
export function keepFields(
  fields: ProviderFields,
  hasCalls: boolean,
  maker: Maker,
  model: string,
): MakerData | undefined {
  if (maker.calls === "bare") return undefined;
  const { reasoning_content, reasoning, ...rest } = fields;
  const data: ProviderFields = rest;
  if (hasCalls || maker.withTexts) {
    if (reasoning_content !== undefined) data.reasoning_content = reasoning_content;
    // The details contain the same and more.
    if (reasoning !== undefined && rest.reasoning_details === undefined) data.reasoning = reasoning;
  }
  // This distinguishes calls that the model made without a thought from those of other providers.
  const isMarked = hasCalls && maker.calls === "reasoned";
  if (Object.keys(data).length === 0 && !isMarked) return undefined;
  return { maker: maker.name, model, data: data as JsonObject };
}

/** The provider data of a message; undefined for a message of another provider. */
export function providerFields(
  { troupe }: AssistantMessage,
  maker: Maker,
  model: string,
): ProviderFields | undefined {
  if (troupe?.maker !== maker.name || (maker.ofOneModel && troupe.model !== model))
    return undefined;
  return fieldsSchema.safeParse(troupe.data).data;
}

/** The fields with a placeholder for the signature of the first of a message's calls, where it is missing. */
export function signedFields(
  fields: ProviderFields,
  { content }: AssistantMessage,
): ProviderFields {
  const first = typeof content === "string" ? undefined : content[0];
  if (first === undefined || fields.calls?.[first.id] !== undefined) return fields;
  return { ...fields, calls: { ...fields.calls, [first.id]: UNSIGNED } };
}

/** The fields with a placeholder for the reasoning before a message's calls, where it is missing. */
export function reasonedFields(
  fields: ProviderFields,
  { content }: AssistantMessage,
): ProviderFields {
  const { reasoning_content, reasoning, reasoning_details } = fields;
  const isThere = [reasoning_content, reasoning, reasoning_details].some((field) => field?.length);
  if (isThere || typeof content === "string") return fields;
  return { ...fields, reasoning_content: UNREASONED };
}
