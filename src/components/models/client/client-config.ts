import * as z from "zod";
import { ValueError } from "../../../core/errors.ts";
import { jsonObjectSchema } from "../../../core/json-object.ts";
import { type ModelInfo, modelInfoSchema } from "../../../core/models/model-info.ts";
import { isPlaceholder } from "../../../core/models/placeholder-address.ts";
import { optionsOf } from "../../../core/options/option-names.ts";
import { retrySchema } from "../../../core/steps/retry-config.ts";
import { guessedModelInfo, type KnownModel } from "../catalogue/known-model.ts";

/** The config fields common to all model clients. */
export const clientConfigSchema = z.object({
  model: z.string().min(1),
  /** Seconds to wait for an answer or, while streaming, for its first and each further piece. */
  timeout: z.number().positive().nullish(),
  retry: retrySchema.nullish(),
  /** `off` disables the server's prompt cache features. AutoGen ignores the key. */
  cache: z.enum(["auto", "off"]).nullish(),
  /** `text` leaves thoughts that the model writes between tags in its text. AutoGen ignores the key. */
  thought_tags: z.enum(["thought", "text"]).nullish(),
  model_info: modelInfoSchema.nullish(),
  /** AutoGen's older form of `model_info`. */
  model_capabilities: modelInfoSchema.omit({ family: true }).nullish(),
});
export type ClientConfig = z.infer<typeof clientConfigSchema>;
type ClientConfigShape = (typeof clientConfigSchema)["shape"];

/** The name of a model, with names to choose from. Others are as good. */
export function modelNameSchema(names: readonly string[]): ClientConfigShape["model"] {
  return clientConfigSchema.shape.model.meta({ examples: [...names] });
}

const NOT_AN_ADDRESS = "must be an http:// or https:// URL";

/** The base URL of a client. An invalid URL would otherwise fail at the first request, like a lost connection. */
export const addressSchema = z.string().refine(isAddress, NOT_AN_ADDRESS);

/** The same for models, where a text that is to be replaced gets a note and fails when the model is called. */
export const modelAddressSchema = z
  .string()
  .refine((text) => isAddress(text) || isPlaceholder(text), NOT_AN_ADDRESS);

function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) && URL.canParse(text);
}

/** OpenAI's `response_format`. */
export const responseFormatSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text") }),
  z.object({ type: z.literal("json_object") }),
  z.object({
    type: z.literal("json_schema"),
    json_schema: z.object({
      name: z.string(),
      description: z.string().nullish(),
      schema: jsonObjectSchema.optional(),
      strict: z.boolean().nullish(),
    }),
  }),
]);

/**
 * The model's abilities: the config's `model_info`, otherwise the catalogue's, otherwise a guess ({@link
 * unknownModelNotes}).
 * @throws ValueError when the config has both `model_info` and `model_capabilities`
 */
export function modelInfoFrom(
  { model_info, model_capabilities }: ClientConfig,
  catalogued: KnownModel | undefined,
): ModelInfo {
  if (model_info && model_capabilities)
    throw new ValueError("model_info and model_capabilities cannot both be given");
  const given = model_info ?? (model_capabilities && { ...model_capabilities, family: "unknown" });
  if (given) return optionsOf(modelInfoSchema, given);
  return catalogued?.info ?? guessedModelInfo();
}

/** Headers with references to secrets replaced by their values. */
export function resolveHeaders(
  headers: { readonly [name: string]: string } | null | undefined,
  resolve: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name, resolve(value)]),
  );
}
