import * as z from "zod";
import { ID } from "./constants.ts";
import type { Json, JsonObject } from "../core/json.ts";

export const idSchema = z
  .string()
  .regex(ID, "must be 1 to 64 letters, digits, underscores and hyphens");

export const timeSchema = z.string().meta({ format: "date-time" });

// Types with a name, so that declarations of the schemas made of them import them from here.

export interface AnyJsonSchema extends z.ZodType<Json, Json> {}
export interface OpenObjectSchema extends z.ZodType<JsonObject, JsonObject> {}

/** Any JSON, which JSON.parse has checked. */
export function describedJson(description: string): AnyJsonSchema {
  return z.custom<Json>().meta({ description });
}

/** Any JSON object. Its members were checked by JSON.parse. */
export const openObjectSchema: OpenObjectSchema = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be a JSON object",
);

/** Metadata, saved state and component config, which are stored unchanged. */
export function describedObject(description: string): OpenObjectSchema {
  return openObjectSchema.meta({ type: "object", additionalProperties: true, description });
}
