import { isJsonObject, type Json } from "../../json.ts";
import type { Inspection } from "../inspection.ts";

export const unevaluatedKeywords = {
  unevaluatedProperties(inspection: Inspection, schema: Json): void {
    if (!isJsonObject(inspection.value)) return;
    for (const name of Object.keys(inspection.value)) {
      if (!inspection.described.has(name)) inspection.requireOf(name, schema);
    }
  },

  unevaluatedItems(inspection: Inspection, schema: Json): void {
    if (!Array.isArray(inspection.value)) return;
    for (const index of inspection.value.keys()) {
      if (!inspection.described.has(index)) inspection.requireOf(index, schema);
    }
  },
};
