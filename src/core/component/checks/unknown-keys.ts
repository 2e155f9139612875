import * as z from "zod";
import { pathOf } from "../../issues.ts";
import { isJsonObject, type Json, type JsonObject } from "../../json.ts";
import type { Note } from "../component.ts";
import { nearMatches } from "../../options/near-matches.ts";

/** Cached by config schema: making one takes longer than checking a config against it. */
const jsonSchemas = new WeakMap<z.ZodType, JsonObject>();

/** The JSON Schema of a config as it is written. */
export function configJsonSchema(schema: z.ZodType): JsonObject {
  const existing = jsonSchemas.get(schema);
  if (existing !== undefined) return existing;
  const made = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonObject;
  jsonSchemas.set(schema, made);
  return made;
}

/**
 * Finds the keys of a config that its schema does not have: they have no effect, and many are misspelled. Objects
 * that may have any keys are skipped.
 *
 * @param owner the class whose config it is
 */
export function unknownKeys(
  config: JsonObject,
  schema: JsonObject,
  owner: string,
  path: string,
): Note[] {
  const properties = propertiesOf(schema);
  if (properties === undefined) return [];
  return Object.entries(config).flatMap(([key, value]): Note[] => {
    const place = pathOf([key], path);
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property !== undefined) return inside(value, property, owner, place);
    const [near] = nearMatches(key, Object.keys(properties));
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    return [{ path: place, message: `is not a key of ${owner} and has no effect${hint}` }];
  });
}

function inside(value: Json, schema: Json, owner: string, path: string): Note[] {
  if (!isJsonObject(schema)) return [];
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return [];
    return value.flatMap((item, index) => inside(item, items, owner, pathOf([index], path)));
  }
  if (!isJsonObject(value)) return [];
  const { anyOf, additionalProperties: others } = schema;
  if (Array.isArray(anyOf)) {
    const objects = anyOf.filter((option) => isJsonObject(option) && option["type"] === "object");
    const [only] = objects;
    return only !== undefined && objects.length === 1 ? inside(value, only, owner, path) : [];
  }
  if (isJsonObject(others) && Object.keys(others).length > 0) {
    return Object.entries(value).flatMap(([key, item]) =>
      inside(item, others, owner, pathOf([key], path)),
    );
  }
  // The keys beside a component's config are AutoGen's own, and some writers add more.
  if (isComponentSchema(schema)) return [];
  return unknownKeys(value, schema, owner, path);
}

/** The properties of an object that allows no others; undefined if it allows any key or the schema does not say. */
function propertiesOf(schema: JsonObject): JsonObject | undefined {
  const { properties, additionalProperties } = schema;
  if (!isJsonObject(properties)) return undefined;
  return additionalProperties === undefined || additionalProperties === false
    ? properties
    : undefined;
}

function isComponentSchema({ properties }: JsonObject): boolean {
  return isJsonObject(properties) && "provider" in properties && "config" in properties;
}
