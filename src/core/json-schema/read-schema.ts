import { errorMessage, ValueError } from "../errors.ts";
import { pathOf } from "../issues.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { Pattern } from "./pattern/pattern.ts";
import { resolveReference } from "./keywords/reference.ts";
import { isTooDeep, MAX_DEPTH } from "./pattern/work-limit.ts";

/** Keywords whose value is a schema, a list of schemas, or an object of schemas. */
const WITH_SCHEMAS = new Set([
  ..."additionalItems additionalProperties contains else if items not propertyNames then".split(
    " ",
  ),
  ..."unevaluatedItems unevaluatedProperties allOf anyOf oneOf prefixItems".split(" "),
  ..."$defs definitions dependencies dependentSchemas patternProperties properties".split(" "),
]);

const OBJECTS_OF_SCHEMAS = new Set(
  "$defs definitions dependencies dependentSchemas patternProperties properties".split(" "),
);

/**
 * The patterns of a schema by their source.
 *
 * @throws ValueError naming the place of a reference that leads nowhere or of a pattern that cannot be used
 */
export function patternsOf(schema: JsonObject): Map<string, Pattern> {
  if (isTooDeep(schema)) {
    throw new ValueError(`the JSON schema is nested deeper than ${MAX_DEPTH} levels`);
  }
  return new SchemaReader(schema).read();
}

class SchemaReader {
  readonly #patterns = new Map<string, Pattern>();
  readonly #root: JsonObject;
  readonly #seen = new Set<Json>();
  /** Targets of references, which may form chains too long for recursion. */
  readonly #targets: { schema: JsonObject; keys: readonly PropertyKey[] }[] = [];

  constructor(root: JsonObject) {
    this.#root = root;
  }

  read(): Map<string, Pattern> {
    this.#read(this.#root, []);
    for (let next = this.#targets.pop(); next !== undefined; next = this.#targets.pop()) {
      this.#read(next.schema, next.keys);
    }
    return this.#patterns;
  }

  #read(schema: Json, keys: readonly PropertyKey[]): void {
    if (!isJsonObject(schema) || this.#seen.has(schema)) return;
    this.#seen.add(schema);
    const { $ref, pattern, patternProperties } = schema;
    if (typeof $ref === "string") this.#readReference($ref, [...keys, "$ref"]);
    if (typeof pattern === "string") this.#addPattern(pattern, [...keys, "pattern"]);
    if (isJsonObject(patternProperties)) {
      for (const source of Object.keys(patternProperties)) {
        this.#addPattern(source, [...keys, "patternProperties", source]);
      }
    }
    for (const [keyword, value] of Object.entries(schema)) {
      if (!WITH_SCHEMAS.has(keyword)) continue;
      if (Array.isArray(value) || OBJECTS_OF_SCHEMAS.has(keyword)) {
        this.#readAll(value, [...keys, keyword]);
      } else this.#read(value, [...keys, keyword]);
    }
  }

  #readAll(schemas: Json, keys: readonly PropertyKey[]): void {
    if (Array.isArray(schemas)) {
      for (const [index, schema] of schemas.entries()) this.#read(schema, [...keys, index]);
    } else if (isJsonObject(schemas)) {
      for (const [name, schema] of Object.entries(schemas)) this.#read(schema, [...keys, name]);
    }
  }

  #readReference(reference: string, keys: readonly PropertyKey[]): void {
    const target = resolveReference(reference, this.#root);
    if (target === undefined) {
      throw new ValueError(
        `the JSON schema refers to "${reference}", which is not in it (at ${pathOf(keys)})`,
      );
    }
    this.#targets.push({ schema: target, keys: reference.split("/").slice(1) });
  }

  #addPattern(source: string, keys: readonly PropertyKey[]): void {
    if (this.#patterns.has(source)) return;
    try {
      this.#patterns.set(source, new Pattern(source));
    } catch (error) {
      throw new ValueError(
        `the JSON schema's pattern at ${pathOf(keys)} cannot be used: ${errorMessage(error)}`,
      );
    }
  }
}
