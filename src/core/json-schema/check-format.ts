import { errorMessage, ValueError } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { fillPlaceholder, parseTemplate, type Placeholder } from "../text/format.ts";
import { MergedSchemas } from "./merged-schemas.ts";

/**
 * Checks that a template can be filled with any value that a schema accepts, as far as the schema specifies it.
 *
 * @param path the template's key in component JSON
 * @throws ValueError when it is malformed, or names a field that the schema does not have
 */
export function requireFormatFits(template: string, schema: JsonObject, path: string): void {
  try {
    const flat = new MergedSchemas(schema);
    for (const part of parseTemplate(template)) {
      if (typeof part !== "string") checkPlaceholder(part, schema, flat);
    }
  } catch (error) {
    const message = errorMessage(error);
    throw new ValueError(`${path}: ${message}`, { issues: [{ path, message }], cause: error });
  }
}

function checkPlaceholder(placeholder: Placeholder, root: JsonObject, flat: MergedSchemas): void {
  const example = exampleOf(typeAt(placeholder.path, placeholder.text, root, flat));
  if (example !== undefined) fillPlaceholder(placeholder, example);
}

/** True if a schema declares a field, possibly a nested one, as a number. */
export function isNumberIn(schema: JsonObject, path: readonly string[]): boolean {
  const type = typeAt(path, path.join("."), schema, new MergedSchemas(schema));
  return type === "number" || type === "integer";
}

function typeAt(
  path: readonly string[],
  text: string,
  root: JsonObject,
  flat: MergedSchemas,
): Json | undefined {
  let found = root;
  for (const key of path) found = fieldOf(flat.of(found), key, text);
  return flat.of(found)["type"];
}

/** The schema of a field; an empty schema, which accepts everything, if it is not declared. */
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
  const knownNames = Object.keys(properties).map((name) => `{${name}}`);
  throw new ValueError(
    `"{${text}}": there is no "${key}", only ${knownNames.join(", ") || "nothing"}`,
  );
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
