import type * as z from "zod";
import { withoutNulls } from "../../core/component/component.ts";
import { ValueError } from "../../core/errors.ts";
import { issuesOf } from "../../core/issues.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ModelInfo } from "../../core/models/model-info.ts";
import { type CommonConfig, createArgsSchema } from "./config.ts";

/** Checks a config given in code; one in component JSON was checked before. @throws ValueError */
export function parseConfig<T>(schema: z.ZodType<T>, config: unknown): T {
  const parsed = schema.safeParse(config);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error);
  const text = issues.map(({ path, message }) => `${path}: ${message}`).join("; ");
  throw new ValueError(`Bad config of a model client: ${text}`, { issues });
}

/**
 * What the model can do: what the config says, else what is known of its name.
 * @throws ValueError when neither says it, or both ways of saying it are used
 */
export function modelInfoFrom(
  {
    model,
    model_info,
    model_capabilities,
  }: Pick<CommonConfig, "model" | "model_info" | "model_capabilities">,
  known: (model: string) => ModelInfo,
): ModelInfo {
  if (model_info && model_capabilities)
    throw new ValueError("model_info and model_capabilities cannot both be given");
  if (model_info) return model_info;
  return model_capabilities ? { ...model_capabilities, family: "unknown" } : known(model);
}

/** What of a config goes into the body of every request. @throws ValueError for a JSON mode the model does not have */
export function createArgsFrom(config: CommonConfig, info: ModelInfo): JsonObject {
  if (config.response_format?.type === "json_object" && !info.json_output)
    throw new ValueError(
      `response_format: the model '${config.model}' has no JSON mode (model_info.json_output is false)`,
    );
  return withoutNulls(createArgsSchema.parse(config));
}

/** Headers with the secrets they refer to, in place. */
export function resolveHeaders(
  headers: { readonly [name: string]: string } | null | undefined,
  resolve: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers ?? {}).map(([name, value]) => [name, resolve(value)]),
  );
}
