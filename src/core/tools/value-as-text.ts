import type { Json } from "../json.ts";

/** What a model reads of a tool's return value: texts as they are, everything else as JSON. */
export function valueAsText(value: Json | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
