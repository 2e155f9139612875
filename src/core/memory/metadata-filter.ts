import * as z from "zod";
import type { Json, JsonObject } from "../json.ts";

const scalarSchema = z.union([z.string(), z.number(), z.boolean()]);

/** Which metadata a content must have: for each key this value, or one of these. */
export interface MetadataFilter {
  [key: string]: string | number | boolean | (string | number | boolean)[];
}

export const metadataFilterSchema: z.ZodType<MetadataFilter> = z.record(
  z.string(),
  z.union([scalarSchema, z.array(scalarSchema).min(1)]),
);

/** A list in the metadata matches if one of its entries does. */
export function matchesFilter(metadata: JsonObject | null, filter: MetadataFilter): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    if (metadata === null || !Object.hasOwn(metadata, key)) return false;
    const values = new Set<Json | undefined>([metadata[key]].flat());
    return [wanted].flat().some((one) => values.has(one));
  });
}
