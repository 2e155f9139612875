import * as z from "zod";

/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

export const jsonObjectSchema = z.record(z.string(), z.json()) as z.ZodType<JsonObject>;

/** Narrows an unknown value to a plain JSON object (not an array, not null). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
