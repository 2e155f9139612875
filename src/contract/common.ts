import * as z from "zod";
import { ID } from "./constants.ts";
import type { ComponentModel } from "../core/component/component-model.ts";
import type { Json, JsonObject } from "../core/json.ts";

export const idSchema = z
  .string()
  .regex(ID, "must be 1 to 64 letters, digits, underscores and hyphens");

/** A text with bounds that a refusal names. */
export function textSchema(longest: number): z.ZodString {
  const rule = `must be a text of 1 to ${longest} characters`;
  return z.string(rule).min(1, rule).max(longest, rule);
}

export const timeSchema = z.string().meta({ format: "date-time" });

// Types with a name, so that declarations of the schemas made of them import them from here.

export interface AnyJsonSchema extends z.ZodType<Json, Json> {}
export interface OpenObjectSchema extends z.ZodType<JsonObject, JsonObject> {}
export interface ComponentModelSchema extends z.ZodType<ComponentModel> {}

/** Any JSON value, already checked by JSON.parse. */
export function describedJson(description: string): AnyJsonSchema {
  return z.custom<Json>().meta({ description });
}

/** Any JSON object. JSON.parse has checked its members. */
export const openObjectSchema: OpenObjectSchema = z.custom<JsonObject>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be a JSON object",
);

/** Metadata, saved state and component config, which are stored unchanged. */
export function describedObject(description: string): OpenObjectSchema {
  return openObjectSchema.meta({ type: "object", additionalProperties: true, description });
}

/** The `Idempotency-Key` of a request. */
export interface Idempotency {
  key: string;
  /** Hash of the body; the same key with another hash is refused with 422. */
  hash: string;
}

/** A created key by its id, or a key of the settings by the name that tokens have for it. */
export type TokenMaker = { key: string } | { static: string };
