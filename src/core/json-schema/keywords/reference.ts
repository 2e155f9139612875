import { isJsonObject, type Json, type JsonObject } from "../../json.ts";

/** The schema a `$ref` such as `#/$defs/Item` leads to; undefined when it leads nowhere or outside. */
export function resolveReference(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let node: Json | undefined = root;
  for (const segment of reference.slice(2).split("/")) {
    const key = decodeSegment(segment);
    if (key === undefined) return undefined;
    if (Array.isArray(node)) node = node[Number(key)];
    else if (isJsonObject(node) && Object.hasOwn(node, key)) node = node[key];
    else return undefined;
  }
  return isJsonObject(node) ? node : undefined;
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}
