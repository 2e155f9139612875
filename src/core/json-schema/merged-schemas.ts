import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { resolveReference } from "./keywords/reference.ts";

/**
 * Schemas with their `$ref` followed and the parts of their `allOf` merged: what AutoGen makes a model of. Keys beside
 * a `$ref` win over what it leads to. Each schema is merged once, because parts may repeat each other.
 */
export class MergedSchemas {
  readonly #root: JsonObject;
  readonly #known = new Map<JsonObject, JsonObject>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  of(schema: JsonObject): JsonObject {
    let flat = this.#known.get(schema);
    if (flat === undefined) {
      // The placeholder that a schema sees when it contains itself.
      this.#known.set(schema, {});
      flat = this.#merged(this.#target(schema));
      this.#known.set(schema, flat);
    }
    return flat;
  }

  #target(schema: JsonObject): JsonObject {
    let flat = schema;
    const seen = new Set<Json>();
    while (typeof flat["$ref"] === "string") {
      const target = resolveReference(flat["$ref"], this.#root);
      if (target === undefined || seen.has(target)) return {};
      seen.add(target);
      const { $ref: _, ...beside } = flat;
      flat = { ...target, ...beside };
    }
    return flat;
  }

  #merged(flat: JsonObject): JsonObject {
    if (!Array.isArray(flat["allOf"])) return flat;
    const { allOf, ...rest } = flat;
    const parts = [...allOf.filter(isJsonObject).map((part) => this.of(part)), rest];
    const properties: JsonObject = {};
    const required = new Set<Json>();
    for (const part of parts) {
      if (isJsonObject(part["properties"])) Object.assign(properties, part["properties"]);
      if (!Array.isArray(part["required"])) continue;
      for (const name of part["required"]) required.add(name);
    }
    return { ...rest, properties, required: [...required] };
  }
}
