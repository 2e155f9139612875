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

/** A whole number in a query string. */
export function integerParameter(minimum: number, maximum: number): z.ZodType<number> {
  const rule = `must be a whole number from ${minimum} to ${maximum}`;
  return z
    .custom<string>((text) => typeof text === "string" && /^\d{1,16}$/.test(text), rule)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, rule)
    .meta({ type: "integer", minimum, maximum });
}

/** A position in a team's event log: the id of a stream frame, or a message's `seq`. */
export const cursorParameter = integerParameter(0, Number.MAX_SAFE_INTEGER);

/** The `next_cursor` of an earlier page, for lists whose cursors are not numbers. */
export const pageCursorParameter = z
  .string()
  .regex(/^[\w.~-]{1,256}$/, "must be the next_cursor of an earlier page")
  .optional();
