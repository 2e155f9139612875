import { exactJson, type Json } from "../../json.ts";

/** A tool's return value as text for the model: strings as they are, other values as JSON. */
export function valueAsText(value: Json | undefined): string {
  return typeof value === "string" ? value : exactJson(value ?? null);
}
