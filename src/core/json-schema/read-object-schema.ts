import { isJsonObject, type Json, type JsonObject, sortedJson } from "../json.ts";
import { MergedSchemas } from "./merged-schemas.ts";
import { resolveReference } from "./keywords/reference.ts";
import { isTooMuch, WorkLimit } from "./pattern/work-limit.ts";

/** The cost of a property of an alternative, beside the steps of {@link WorkLimit}: its text is compared with others. */
const STEPS_PER_PROPERTY = 32;

/** Deeper parts of a schema are read as schemas that allow everything. */
const MOST_DEPTH = 64;

/** Keywords whose values are data, in which null has a meaning. */
const DATA = new Set(["const", "default", "enum", "examples", "example"]);
const MAPS_OF_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const LISTS_OF_SCHEMAS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const TEXTS = new Set(["description", "title", "$ref", "$schema", "$id", "pattern", "format"]);

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Names of types in other languages, in lower case. */
const OTHER_NAMES: { readonly [name: string]: string } = {
  str: "string",
  text: "string",
  int: "integer",
  long: "integer",
  float: "number",
  double: "number",
  decimal: "number",
  bool: "boolean",
  dict: "object",
  map: "object",
  list: "array",
};

/**
 * Reads the schema of an object that a program wrote, in every shape that has one meaning: missing or encoded as a text, with null
 * for what is left out, with `[]` or `{}` for each other (as PHP and Lua write what is empty), with `required` inside of a property,
 * with names of types from other languages, and with a `$ref`, `allOf`, `anyOf` or `oneOf` at the top. Alternatives at the top become
 * one object, which allows what each of them allows. Undefined for what is not the schema of an object, or takes too much work.
 */
export function readObjectSchema(input: unknown): JsonObject | undefined {
  const object = asObject(input);
  if (object === undefined) return undefined;
  try {
    return new ObjectReader(mended(object, 0)).read();
  } catch (error) {
    if (isTooMuch(error)) return undefined;
    throw error;
  }
}

function asObject(raw: unknown): JsonObject | undefined {
  if (raw === undefined || raw === null || isEmptyList(raw)) return {};
  if (raw === true) return { additionalProperties: true };
  if (isJsonObject(raw)) return raw;
  if (typeof raw !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(raw);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The schema with its keywords as JSON Schema defines them. What does not need it stays as it is. */
function mended(schema: JsonObject, depth: number): JsonObject {
  if (depth > MOST_DEPTH) return {};
  const copy: JsonObject = {};
  for (const [keyword, value] of Object.entries(schema)) {
    const read = mendedKeyword(keyword, value, depth + 1);
    if (read !== undefined) copy[keyword] = read;
  }
  const inside = requiredInside(schema["properties"]);
  if (inside.length > 0) {
    const own = Array.isArray(copy["required"]) ? copy["required"] : [];
    copy["required"] = [...new Set([...own, ...inside])];
  }
  return copy;
}

/** Undefined for a value that says nothing. */
function mendedKeyword(keyword: string, value: Json, depth: number): Json | undefined {
  if (DATA.has(keyword)) {
    return keyword === "enum" && (!Array.isArray(value) || value.length === 0) ? undefined : value;
  }
  if (keyword === "properties" && (value === null || isEmptyList(value))) return {};
  if (value === null) return undefined;
  if (keyword === "type") return typeOf(value);
  if (keyword === "required") return requiredOf(value);
  if (TEXTS.has(keyword)) return typeof value === "string" ? value : undefined;
  if (MAPS_OF_SCHEMAS.has(keyword)) return mapOfSchemas(value, depth);
  if (LISTS_OF_SCHEMAS.has(keyword)) {
    if (!Array.isArray(value) || value.length === 0) return undefined;
    return value.map((one) => subschema(one, depth));
  }
  if (keyword === "items") {
    return Array.isArray(value)
      ? value.map((one) => subschema(one, depth))
      : subschema(value, depth);
  }
  if (keyword === "additionalProperties") {
    return isJsonObject(value)
      ? mended(value, depth)
      : typeof value === "boolean"
        ? value
        : undefined;
  }
  return value;
}

function mapOfSchemas(value: Json, depth: number): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, subschema(one, depth)]),
  );
}

/** A text names a type. */
function subschema(value: Json, depth: number): Json {
  if (typeof value === "boolean") return value;
  if (isJsonObject(value)) return mended(value, depth);
  const type = typeof value === "string" ? typeOf(value) : undefined;
  return type === undefined ? {} : { type };
}

function typeOf(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    const types = value.flatMap((one) => typeOf(one === null ? "null" : one) ?? []);
    return types.length > 0 ? types : undefined;
  }
  if (typeof value !== "string") return undefined;
  const name = value.trim().toLowerCase();
  if (TYPES.has(name)) return name;
  return Object.hasOwn(OTHER_NAMES, name) ? OTHER_NAMES[name] : undefined;
}

/** `required: true` inside of a property is that of the object around it. */
function requiredOf(value: Json): Json | undefined {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.filter((name) => typeof name === "string");
  return isJsonObject(value) && Object.keys(value).length === 0 ? [] : undefined;
}

function requiredInside(properties: Json | undefined): string[] {
  if (!isJsonObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, one]) =>
    isJsonObject(one) && one["required"] === true ? [name] : [],
  );
}

/**
 * Reads the schemas of one root as objects. Each is read once: alternatives may repeat each other or contain themselves, and
 * would otherwise take time exponential in their number.
 */
class ObjectReader {
  readonly #root: JsonObject;
  readonly #merged: MergedSchemas;
  readonly #limit = new WorkLimit();
  /** Undefined for a schema that is being read. */
  readonly #known = new Map<JsonObject, JsonObject | undefined>();
  readonly #texts = new Map<JsonObject, string>();

  constructor(root: JsonObject) {
    this.#root = root;
    this.#merged = new MergedSchemas(root);
  }

  /** The root with `type: "object"` and properties at its top, without a reference or alternatives. */
  read(): JsonObject | undefined {
    const { $defs, definitions } = this.#root;
    const object = this.#object(this.#root, 0);
    return (
      object && {
        ...object,
        ...($defs !== undefined && { $defs }),
        ...(definitions !== undefined && { definitions }),
      }
    );
  }

  /** The schema with the properties of all its alternatives; undefined if it allows no object. */
  #object(schema: JsonObject, depth: number): JsonObject | undefined {
    if (depth > MOST_DEPTH) return undefined;
    if (this.#known.has(schema)) return this.#known.get(schema);
    // As an alternative of itself, it allows nothing that the others do not allow.
    this.#known.set(schema, undefined);
    const object = this.#withAlternatives(schema, depth);
    this.#known.set(schema, object);
    return object;
  }

  #withAlternatives(schema: JsonObject, depth: number): JsonObject | undefined {
    const { $ref } = schema;
    if (typeof $ref === "string" && resolveReference($ref, this.#root) === undefined)
      return undefined;
    const { anyOf: _, oneOf: _one, ...top } = this.#merged.of(schema);
    const { type = "object" } = top;
    if (![type].flat().includes("object")) return undefined;
    const alternatives: JsonObject[] = [];
    for (const union of this.#unionsOf(schema)) {
      const objects = union
        .map((one) => (isJsonObject(one) ? this.#object(one, depth + 1) : undefined))
        .filter((one) => one !== undefined);
      if (objects.length === 0) return undefined;
      alternatives.push(...objects);
    }
    return {
      ...top,
      type: "object",
      ...(alternatives.length > 0 && this.#joined(top, alternatives)),
    };
  }

  /** The lists of alternatives of a schema, also those in what it refers to and in the parts of its `allOf`. */
  #unionsOf(schema: JsonObject, seen = new Set<JsonObject>()): Json[][] {
    this.#limit.spend();
    if (seen.has(schema)) return [];
    seen.add(schema);
    const { anyOf, oneOf, allOf, $ref } = schema;
    const target = typeof $ref === "string" ? resolveReference($ref, this.#root) : undefined;
    const parts = Array.isArray(allOf) ? allOf.filter(isJsonObject) : [];
    const inner = target === undefined ? parts : [target, ...parts];
    return [
      ...[anyOf, oneOf].filter((one) => Array.isArray(one)),
      ...inner.flatMap((part) => this.#unionsOf(part, seen)),
    ];
  }

  /** The properties of all alternatives. Required are those that each of them requires. */
  #joined(base: JsonObject, alternatives: readonly JsonObject[]): JsonObject {
    const own = isJsonObject(base["properties"]) ? base["properties"] : {};
    const found = new Map<string, Map<string, Json>>();
    for (const { properties } of alternatives) {
      for (const [name, schema] of Object.entries(isJsonObject(properties) ? properties : {})) {
        const schemas = found.get(name) ?? new Map<string, Json>();
        for (const one of choicesOf(schema)) schemas.set(this.#textOf(one), one);
        found.set(name, schemas);
      }
    }
    const properties = Object.fromEntries(
      [...found].map(([name, schemas]): [string, Json] => {
        const [first = {}, ...others] = schemas.values();
        return [name, others.length === 0 ? first : { anyOf: [first, ...others] }];
      }),
    );
    const [first = [], ...others] = alternatives.map(({ required }) =>
      Array.isArray(required) ? required : [],
    );
    const needed = others.map((names) => new Set(names));
    const always = first.filter((name) => needed.every((names) => names.has(name)));
    const required = Array.isArray(base["required"]) ? base["required"] : [];
    return {
      properties: { ...properties, ...own },
      required: [...new Set([...required, ...always])],
    };
  }

  #textOf(schema: Json): string {
    this.#limit.spend(STEPS_PER_PROPERTY);
    if (!isJsonObject(schema)) return JSON.stringify(schema);
    const text = this.#texts.get(schema) ?? sortedJson(schema);
    this.#texts.set(schema, text);
    return text;
  }
}

/** The schemas that a property may have, of which alternatives inside of alternatives have made one. */
function choicesOf(schema: Json): Json[] {
  if (!isJsonObject(schema)) return [schema];
  const { anyOf, ...others } = schema;
  return Array.isArray(anyOf) && Object.keys(others).length === 0 ? anyOf : [schema];
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
