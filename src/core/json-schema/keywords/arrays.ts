import type { Json } from "../../json.ts";
import type { Inspection } from "./inspection.ts";

export const arrayKeywords = {
  minItems(inspection: Inspection, least: Json): void {
    const { value } = inspection;
    if (!Array.isArray(value) || typeof least !== "number" || value.length >= least) return;
    inspection.fail(`must have at least ${least} items, has ${value.length}`);
  },

  maxItems(inspection: Inspection, most: Json): void {
    const { value } = inspection;
    if (!Array.isArray(value) || typeof most !== "number" || value.length <= most) return;
    inspection.fail(`must have at most ${most} items, has ${value.length}`);
  },

  prefixItems(inspection: Inspection, schemas: Json): void {
    const { value } = inspection;
    if (!Array.isArray(value) || !Array.isArray(schemas)) return;
    for (const [index, schema] of schemas.slice(0, value.length).entries()) {
      inspection.requireOf(index, schema);
    }
  },

  /** A list of schemas means the same as `prefixItems` since draft 2020-12. */
  items(inspection: Inspection, argument: Json): void {
    if (Array.isArray(argument)) arrayKeywords.prefixItems(inspection, argument);
    else requireFrom(inspection, lengthOf(inspection.schema["prefixItems"]), argument);
  },

  /** Applies beside a list in `items`. */
  additionalItems(inspection: Inspection, schema: Json): void {
    const { items } = inspection.schema;
    if (Array.isArray(items)) requireFrom(inspection, items.length, schema);
  },

  contains(inspection: Inspection, schema: Json): void {
    const { value, place } = inspection;
    if (!Array.isArray(value)) return;
    const { minContains: least = 1, maxContains: most = Infinity } = inspection.schema;
    const found = [...value.keys()].filter((index) =>
      inspection.accepts(schema, place.child(index)),
    );
    inspection.describe(found);
    if (typeof least === "number" && found.length < least) {
      inspection.fail(`must contain at least ${least} matching items, has ${found.length}`);
    }
    if (typeof most === "number" && found.length > most) {
      inspection.fail(`must contain at most ${most} matching items, has ${found.length}`);
    }
  },

  uniqueItems(inspection: Inspection, argument: Json): void {
    const { value, place, validation } = inspection;
    if (!Array.isArray(value) || argument !== true) return;
    const first = new Map<string, number>();
    for (const index of value.keys()) {
      const text = place.child(index).canonical(validation.limit);
      const other = first.get(text);
      if (other !== undefined) {
        inspection.fail(`repeats the item at index ${other}`, [index]);
        return;
      }
      first.set(text, index);
    }
  },
};

function requireFrom(inspection: Inspection, start: number, schema: Json): void {
  const { value } = inspection;
  if (!Array.isArray(value)) return;
  for (let index = start; index < value.length; index++) inspection.requireOf(index, schema);
}

function lengthOf(list: Json | undefined): number {
  return Array.isArray(list) ? list.length : 0;
}
