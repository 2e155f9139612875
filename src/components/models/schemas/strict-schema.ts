import { isJsonObject, type Json, type JsonObject } from "../../../core/json.ts";

const strict = new WeakMap<JsonObject, JsonObject>();

/**
 * A JSON Schema in the strict form that structured output requires: every object without a rule for other
 * properties is closed, and all its properties are required. Defaults of null are removed, because no property can be missing.
 */
export function strictSchema(schema: JsonObject): JsonObject {
  let result = strict.get(schema);
  if (result === undefined) {
    result = closeObject(schema);
    strict.set(schema, result);
  }
  return result;
}

function closeObject(schema: JsonObject): JsonObject {
  const closed: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "default" && value === null) continue;
    closed[key] = closeKeyword(key, value);
  }
  const { properties } = closed;
  if (closed["type"] === "object" || isJsonObject(properties)) {
    closed["additionalProperties"] ??= false;
    if (isJsonObject(properties)) closed["required"] = Object.keys(properties);
  }
  return closed;
}

function closeKeyword(key: string, value: Json): Json {
  switch (key) {
    case "properties":
    case "$defs":
    case "definitions":
      return isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, close(inner)]))
        : value;
    case "items":
    case "prefixItems":
    case "anyOf":
    case "allOf":
    case "oneOf":
    case "not":
      return close(value);
    default:
      return value;
  }
}

function close(value: Json): Json {
  if (Array.isArray(value)) return value.map(close);
  return isJsonObject(value) ? closeObject(value) : value;
}
