import { ease } from "../ease.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { JsonSchema } from "./json-schema.ts";
import { flatten } from "./reference.ts";

/**
 * A value without what its schema does not know: unnamed properties, and null where a property may simply be left
 * out; and with numbers and booleans where texts say them. Models write all of it, and AutoGen accepts it. Check the
 * result, then {@link complete} it.
 */
export function prune(value: Json, schema: JsonObject, root = schema): Json {
  return arrange(value, schema, { root, fill: "nothing", eased: true });
}

/**
 * A checked value in the order of its schema, with defaults for the properties that are missing: null where the
 * schema names no default.
 */
export function complete(value: Json, schema: JsonObject, root = schema): Json {
  return arrange(value, schema, { root, fill: "everything", eased: false });
}

/** As {@link complete}, but what is missing and has no default stays missing. */
export function withDefaults(value: Json, schema: JsonObject, root = schema): Json {
  return arrange(value, schema, { root, fill: "defaults", eased: false });
}

interface Pass {
  root: JsonObject;
  /** Which missing properties are filled in. */
  fill: "nothing" | "defaults" | "everything";
  eased: boolean;
}

function arrange(value: Json, schema: JsonObject, pass: Pass): Json {
  const flat = flatten(schema, pass.root);
  const alternatives = flat["anyOf"] ?? flat["oneOf"];
  if (Array.isArray(alternatives))
    return arrangeUnion(value, alternatives.filter(isJsonObject), pass);
  if (Array.isArray(value) && isJsonObject(flat["items"])) {
    const items = flat["items"];
    return value.map((item) => arrange(item, items, pass));
  }
  if (isJsonObject(value) && isJsonObject(flat["properties"])) {
    return arrangeObject(value, flat["properties"], flat, pass);
  }
  return pass.eased && typeof flat["type"] === "string" ? ease(value, flat["type"]) : value;
}

function arrangeObject(
  value: JsonObject,
  properties: JsonObject,
  schema: JsonObject,
  pass: Pass,
): JsonObject {
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const result: JsonObject = {};
  for (const [key, property] of Object.entries(properties)) {
    const own = isJsonObject(property) ? property : {};
    const fallback = own["default"] ?? null;
    const given = Object.hasOwn(value, key) ? value[key] : undefined;
    const optional = !required.includes(key);
    const missing = given === undefined || (given === null && optional && fallback === null);
    if (!missing) result[key] = arrange(given, own, pass);
    else if (
      optional &&
      (pass.fill === "everything" || (pass.fill === "defaults" && fallback !== null))
    )
      result[key] = structuredClone(fallback);
  }
  const open = schema["additionalProperties"];
  if (open === true || isJsonObject(open)) {
    for (const [key, item] of Object.entries(value)) {
      if (!Object.hasOwn(properties, key)) result[key] = item;
    }
  }
  return result;
}

/** The first alternative that accepts the value says how it is arranged; one that accepts it as it is goes first. */
function arrangeUnion(value: Json, alternatives: readonly JsonObject[], pass: Pass): Json {
  const { $defs = {}, definitions = {} } = pass.root;
  for (const eased of [false, true]) {
    for (const alternative of alternatives) {
      const pruned = arrange(value, alternative, { root: pass.root, fill: "nothing", eased });
      const schema = new JsonSchema({ ...alternative, $defs, definitions });
      if (schema.check(pruned).length > 0) continue;
      if (pass.fill === "nothing") return pruned;
      return arrange(pruned, alternative, { ...pass, eased: false });
    }
  }
  return value;
}
