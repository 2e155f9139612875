import type { Json, JsonObject } from "../json.ts";

/** The metadata that a content must have: for each key this value, or one of these. */
export interface MetadataFilter {
  [key: string]: string | number | boolean | (string | number | boolean)[];
}

/** A list in the metadata matches if one of its entries does. */
export function matchesFilter(metadata: JsonObject | null, filter: MetadataFilter): boolean {
  return Object.entries(filter).every(([key, wanted]) => {
    if (metadata === null || !Object.hasOwn(metadata, key)) return false;
    const values = new Set<Json | undefined>([metadata[key]].flat());
    return [wanted].flat().some((one) => values.has(one));
  });
}
