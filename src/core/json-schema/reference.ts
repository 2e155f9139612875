import { isJsonObject, type Json, type JsonObject } from "../json.ts";

/** The schema a `$ref` such as `#/$defs/Item` leads to; undefined when it leads nowhere or outside. */
export function resolveReference(reference: string, root: JsonObject): JsonObject | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let node: Json | undefined = root;
  for (const segment of reference.slice(2).split("/")) {
    const key = decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(node)) node = node[Number(key)];
    else if (isJsonObject(node) && Object.hasOwn(node, key)) node = node[key];
    else return undefined;
  }
  return isJsonObject(node) ? node : undefined;
}

/**
 * A schema with its `$ref` followed and the parts of its `allOf` merged: what AutoGen makes a model of. Keys beside a
 * `$ref` win over what it leads to.
 */
export function flatten(schema: JsonObject, root: JsonObject): JsonObject {
  let flat = schema;
  const seen = new Set<Json>();
  while (typeof flat["$ref"] === "string") {
    const target = resolveReference(flat["$ref"], root);
    if (target === undefined || seen.has(target)) return {};
    seen.add(target);
    const { $ref: _, ...beside } = flat;
    flat = { ...target, ...beside };
  }
  if (!Array.isArray(flat["allOf"])) return flat;
  const { allOf, ...rest } = flat;
  const parts = [...allOf.filter(isJsonObject).map((part) => flatten(part, root)), rest];
  const properties: JsonObject = {};
  const required: Json[] = [];
  for (const part of parts) {
    if (isJsonObject(part["properties"])) Object.assign(properties, part["properties"]);
    if (Array.isArray(part["required"])) required.push(...part["required"]);
  }
  return { ...rest, properties, required };
}
