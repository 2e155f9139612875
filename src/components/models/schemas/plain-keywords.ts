import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";
import { resolveReference } from "../../../core/json-schema/keywords/reference.ts";
import type { SchemaDialect } from "./dialects.ts";

const NULL: JsonObject = { type: "null" };

/** The schema with the parts of its `allOf`, as one: their properties and required names together, and what is said later counts. */
export function mergedParts(schema: JsonObject, root: JsonObject): JsonObject {
  const seen = new Set<JsonObject>();
  const merge = (part: JsonObject): JsonObject => {
    const { allOf, ...own } = part;
    if (!Array.isArray(allOf)) return part;
    const parts = allOf.filter(isJsonObject).map((one) => {
      const { $ref, ...beside } = one;
      const target = typeof $ref === "string" ? resolveReference($ref, root) : undefined;
      if (target === undefined) return merge(one);
      if (seen.has(target)) return beside;
      seen.add(target);
      const { $defs: _defs, definitions: _definitions, ...whole } = target;
      return merge({ ...whole, ...beside });
    });
    return [...parts, own].reduce(joined, {});
  };
  return merge(schema);
}

function joined(left: JsonObject, right: JsonObject): JsonObject {
  const both = { ...left, ...right };
  const [before, after] = [left["properties"], right["properties"]];
  if (isJsonObject(before) && isJsonObject(after)) both["properties"] = { ...before, ...after };
  const [needed, also] = [left["required"], right["required"]];
  if (Array.isArray(needed) && Array.isArray(also))
    both["required"] = [...new Set([...needed, ...also])];
  return both;
}

/** The schema by the keywords that the dialect has for the same: equivalents, so that nothing is lost. */
export function inPlainKeywords(input: JsonObject, dialect: SchemaDialect): JsonObject {
  const has = (keyword: string): boolean => dialect.keywords?.has(keyword) ?? true;
  let schema = { ...input };
  if (!has("const") && "const" in schema) {
    const { const: value = null, ...rest } = schema;
    schema = { ...rest, enum: [value] };
  }
  if (!has("oneOf") && Array.isArray(schema["oneOf"])) {
    const { oneOf, ...rest } = schema;
    schema = { ...rest, anyOf: oneOf };
  }
  if (Array.isArray(schema["items"])) {
    const { items, ...rest } = schema;
    schema = { ...rest, prefixItems: items };
  }
  if (!has("prefixItems") && Array.isArray(schema["prefixItems"])) {
    const { prefixItems, items, ...rest } = schema;
    const alternatives = [...prefixItems, ...(isJsonObject(items) ? [items] : [])];
    schema = { ...rest, items: oneSchema(alternatives) };
  }
  schema = limits(schema, has);
  return dialect.nullable ? withNullable(schema) : withNullType(schema);
}

/** Draft 4's boolean limits, and those that a dialect has only in the inclusive form. */
function limits(raw: JsonObject, has: (keyword: string) => boolean): JsonObject {
  const schema = { ...raw };
  for (const [exclusive, inclusive, step] of [
    ["exclusiveMinimum", "minimum", 1],
    ["exclusiveMaximum", "maximum", -1],
  ] as const) {
    const bound = schema[exclusive];
    if (typeof bound === "boolean") {
      delete schema[exclusive];
      const value = schema[inclusive];
      if (!bound || typeof value !== "number") continue;
      delete schema[inclusive];
      schema[exclusive] = value;
    }
    const value = schema[exclusive];
    if (has(exclusive) || typeof value !== "number") continue;
    delete schema[exclusive];
    schema[inclusive] =
      schema["type"] === "integer" && Number.isInteger(value) ? value + step : value;
  }
  return schema;
}

/** OpenAPI's `nullable` as the type null. */
function withNullType(input: JsonObject): JsonObject {
  const { nullable, ...schema } = input;
  if (nullable === undefined) return input;
  if (nullable !== true) return schema;
  const { type, enum: values, anyOf } = schema;
  if (Array.isArray(anyOf)) return { ...schema, anyOf: [...anyOf, NULL] };
  if (type === undefined) return schema;
  return {
    ...schema,
    type: [...new Set([type, "null"].flat())],
    ...(Array.isArray(values) && { enum: [...new Set([...values, null])] }),
  };
}

/** The type null as OpenAPI's `nullable`, and several types as alternatives. */
function withNullable(input: JsonObject): JsonObject {
  let schema = { ...input };
  if (Array.isArray(schema["enum"]) && schema["enum"].includes(null)) {
    schema = { ...schema, nullable: true, enum: schema["enum"].filter((value) => value !== null) };
  }
  if (Array.isArray(schema["type"])) {
    const { type, ...rest } = schema;
    const types = type.filter((one) => one !== "null");
    const isNullable = types.length < type.length;
    schema =
      types.length > 1
        ? { ...commonOf(rest), anyOf: types.map((one) => ({ ...constraintsOf(rest), type: one })) }
        : { ...rest, ...(types[0] !== undefined && { type: types[0] }) };
    if (isNullable) schema["nullable"] = true;
  }
  if (!Array.isArray(schema["anyOf"])) return schema;
  const { anyOf, ...rest } = schema;
  const others = anyOf.filter((one) => !(isJsonObject(one) && one["type"] === "null"));
  if (others.length < anyOf.length) rest["nullable"] = true;
  if (others.length === 1 && isJsonObject(others[0]))
    return withNullable({ ...others[0], ...rest });
  // A type beside alternatives is refused.
  const { type, ...beside } = rest;
  const typed = others.map((one) =>
    type !== undefined && isJsonObject(one) && !("$ref" in one) ? { type, ...one } : one,
  );
  return { ...beside, anyOf: typed };
}

const COMMON = new Set(["title", "description", "nullable", "default"]);

function commonOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => COMMON.has(keyword)));
}

function constraintsOf(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !COMMON.has(keyword)));
}

function oneSchema(schemas: readonly Json[]): Json {
  const [first = {}, ...others] = new Map(
    schemas.map((schema) => [JSON.stringify(schema), schema]),
  ).values();
  return others.length === 0 ? first : { anyOf: [first, ...others] };
}

/** The schema with the type that its keywords speak of, where it names none: some servers require one. */
export function typeByContent(schema: JsonObject): JsonObject {
  if (schema["type"] !== undefined || "anyOf" in schema || "oneOf" in schema || "allOf" in schema)
    return schema;
  const type = contentType(schema);
  return type === undefined ? schema : { type, ...schema };
}

function contentType(schema: JsonObject): string | undefined {
  const {
    properties,
    items,
    const: only,
    enum: values = only === undefined ? [] : [only],
  } = schema;
  if (isJsonObject(properties)) return "object";
  if (items !== undefined) return "array";
  if (!Array.isArray(values)) return undefined;
  const [type, ...others] = new Set(values.map((value) => typeof value));
  const isPlain = type === "string" || type === "number" || type === "boolean";
  return others.length === 0 && isPlain ? type : undefined;
}
