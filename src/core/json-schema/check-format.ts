import { errorMessage, ValueError } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { formatValue, parseTemplate, type Placeholder } from "../text/format.ts";
import { FlatSchemas } from "./flat.ts";

/**
 * Checks that a template can be filled with whatever a schema accepts, as far as the schema says what that is.
 *
 * @param path the template's key in component JSON
 * @throws ValueError when it is malformed, or names a field that the schema does not have
 */
export function requireFormatFits(template: string, schema: JsonObject, path: string): void {
  try {
    const flat = new FlatSchemas(schema);
    for (const part of parseTemplate(template)) {
      if (typeof part !== "string") checkPlaceholder(part, schema, flat);
    }
  } catch (error) {
    const message = errorMessage(error);
    throw new ValueError(`${path}: ${message}`, { issues: [{ path, message }], cause: error });
  }
}

function checkPlaceholder(placeholder: Placeholder, root: JsonObject, flat: FlatSchemas): void {
  const { path, spec, text } = placeholder;
  let found: JsonObject = root;
  for (const key of path) found = fieldOf(flat.of(found), key, text);
  const example = exampleOf(flat.of(found)["type"]);
  const literal = spec.filter((part) => typeof part === "string");
  for (const part of spec) if (typeof part !== "string") checkPlaceholder(part, root, flat);
  if (example !== undefined && literal.length === spec.length) {
    formatValue(example, placeholder, literal.join(""));
  }
}

/** The schema of a field of a flat schema; an empty one, which accepts everything, where the schema does not say. */
function fieldOf(schema: JsonObject, key: string, text: string): JsonObject {
  const { properties, additionalProperties: others, items, type } = schema;
  if (type === "array") {
    if (!/^\d+$/.test(key))
      throw new ValueError(`"{${text}}": "${key}" is not the index of a list`);
    return asSchema(items);
  }
  if (typeof type === "string" && type !== "object") {
    throw new ValueError(`"{${text}}": "${key}" cannot be looked up in a ${type}`);
  }
  if (!isJsonObject(properties)) return asSchema(others);
  if (Object.hasOwn(properties, key)) return asSchema(properties[key]);
  if (others === true || isJsonObject(others)) return asSchema(others);
  const known = Object.keys(properties).map((name) => `{${name}}`);
  throw new ValueError(`"{${text}}": there is no "${key}", only ${known.join(", ") || "nothing"}`);
}

function asSchema(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** A value of a type whose values all take the same specifications. */
function exampleOf(type: Json | undefined): Json | undefined {
  switch (type) {
    case "string":
      return "";
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return undefined;
  }
}
