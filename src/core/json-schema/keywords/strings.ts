import { format as formats } from "@cfworker/json-schema";
import type { Json } from "../../json.ts";
import type { Inspection } from "./inspection.ts";

/** The library's expressions for formats are quadratic at worst; no URL in use is longer. */
const MAX_FORMATTED = 8192;

export const stringKeywords = {
  minLength(inspection: Inspection, least: Json): void {
    const length = lengthOf(inspection.value);
    if (length === undefined || typeof least !== "number" || length >= least) return;
    inspection.fail(`must have at least ${least} characters, has ${length}`);
  },

  maxLength(inspection: Inspection, most: Json): void {
    const length = lengthOf(inspection.value);
    if (length === undefined || typeof most !== "number" || length <= most) return;
    inspection.fail(`must have at most ${most} characters, has ${length}`);
  },

  pattern(inspection: Inspection, source: Json): void {
    const { value, validation } = inspection;
    if (typeof value !== "string" || typeof source !== "string") return;
    if (validation.patterns.get(source)?.test(value, validation.limit) ?? true) return;
    inspection.fail(`must match the pattern ${source}`);
  },

  format(inspection: Inspection, name: Json): void {
    const { value } = inspection;
    if (typeof value !== "string" || typeof name !== "string") return;
    inspection.validation.limit.spend(value.length);
    if (!hasFormat(value, name)) inspection.fail(`must have the format "${name}"`);
  },
};

/** Counts characters, not UTF-16 units. */
function lengthOf(value: Json): number | undefined {
  return typeof value === "string" ? Array.from(value).length : undefined;
}

function hasFormat(value: string, name: string): boolean {
  // The library's expression for this one is exponential.
  if (name === "url") return /^(?:https?|ftp):\/\/\S+$/i.test(value) && URL.canParse(value);
  const check = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return check === undefined || (value.length <= MAX_FORMATTED && check(value));
}
