import { coerce } from "../coerce.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { MergedSchemas } from "./merged-schemas.ts";
import type { JsonSchema } from "./json-schema.ts";
import { isTooDeep, isTooMuch, WorkLimit } from "./pattern/work-limit.ts";

/**
 * A value adapted to its schema: without unnamed properties, without null for optional properties, and with numbers and
 * booleans parsed from texts. Models write all of these, and AutoGen accepts them. Check the result, then {@link
 * complete} it.
 */
export function prune(value: Json, schema: JsonSchema): Json {
  return fit(value, schema, { fill: "nothing", eased: true });
}

/**
 * A checked value in the order of its schema, with defaults for the properties that are missing: null where the
 * schema names no default.
 */
export function complete(value: Json, schema: JsonSchema): Json {
  return fit(value, schema, { fill: "everything", eased: false });
}

/** As {@link complete}, but missing properties without a default stay missing. */
export function withDefaults(value: Json, schema: JsonSchema): Json {
  return fit(value, schema, { fill: "defaults", eased: false });
}

interface Mode {
  /** The missing properties to fill in. */
  fill: "nothing" | "defaults" | "everything";
  eased: boolean;
}

/** A value that is too large or too deep is not changed: the following check refuses it. */
function fit(value: Json, schema: JsonSchema, mode: Mode): Json {
  if (isTooDeep(value)) return value;
  try {
    return new Arrangement(schema).arrange(value, schema.schema, mode);
  } catch (error) {
    if (isTooMuch(error)) return value;
    throw error;
  }
}

/** Arranges each value by each schema once, because the alternatives of unions try the same schemas repeatedly. */
export class Arrangement {
  readonly #schema: JsonSchema;
  readonly #flat: MergedSchemas;
  readonly #limit = new WorkLimit();
  readonly #done = new Map<string, Map<JsonObject, Map<Json, Json>>>();

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.#flat = new MergedSchemas(schema.schema);
  }

  arrange(value: Json, schema: JsonObject, mode: Mode): Json {
    this.#limit.spend();
    const flat = this.#flat.of(schema);
    const done = entry(entry(this.#done, `${mode.fill} ${mode.eased}`), flat);
    const existing = done.get(value);
    if (existing !== undefined) return existing;
    done.set(value, value);
    const arranged = this.#arrange(value, flat, mode);
    done.set(value, arranged);
    return arranged;
  }

  #arrange(value: Json, flat: JsonObject, mode: Mode): Json {
    const alternatives = flat["anyOf"] ?? flat["oneOf"];
    if (Array.isArray(alternatives)) {
      return this.#arrangeUnion(value, alternatives.filter(isJsonObject), mode);
    }
    if (Array.isArray(value) && isJsonObject(flat["items"])) {
      const items = flat["items"];
      return value.map((item) => this.arrange(item, items, mode));
    }
    if (isJsonObject(value) && isJsonObject(flat["properties"])) {
      return this.#arrangeObject(value, flat["properties"], flat, mode);
    }
    return mode.eased && typeof flat["type"] === "string" ? coerce(value, flat["type"]) : value;
  }

  #arrangeObject(
    value: JsonObject,
    properties: JsonObject,
    schema: JsonObject,
    mode: Mode,
  ): JsonObject {
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    const result: JsonObject = {};
    this.#limit.spend(required.size);
    for (const [key, property] of Object.entries(properties)) {
      this.#limit.spend();
      const own = isJsonObject(property) ? property : {};
      const fallback = own["default"] ?? null;
      const given = Object.hasOwn(value, key) ? value[key] : undefined;
      const optional = !required.has(key);
      const missing = given === undefined || (given === null && optional && fallback === null);
      if (!missing) result[key] = this.arrange(given, own, mode);
      else if (
        optional &&
        (mode.fill === "everything" || (mode.fill === "defaults" && fallback !== null))
      )
        result[key] = this.#copy(fallback);
    }
    const open = schema["additionalProperties"];
    if (open === true || isJsonObject(open)) {
      for (const [key, item] of Object.entries(value)) {
        if (!Object.hasOwn(properties, key)) result[key] = item;
      }
    }
    return result;
  }

  #copy(fallback: Json): Json {
    if (typeof fallback !== "object") return fallback;
    const text = JSON.stringify(fallback);
    this.#limit.spend(text.length >> 3);
    return JSON.parse(text) as Json;
  }

  /**
   * The first alternative that accepts the value decides how it is arranged; one that accepts it unchanged is
   * preferred.
   */
  #arrangeUnion(value: Json, alternatives: readonly JsonObject[], mode: Mode): Json {
    for (const eased of [false, true]) {
      for (const alternative of alternatives) {
        const pruned = this.arrange(value, alternative, { fill: "nothing", eased });
        if (!this.#schema.partAccepts(alternative, pruned, this.#limit)) continue;
        if (mode.fill === "nothing") return pruned;
        return this.arrange(pruned, alternative, { ...mode, eased: false });
      }
    }
    return value;
  }
}

function entry<K, L, V>(map: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let inner = map.get(key);
  if (inner === undefined) map.set(key, (inner = new Map()));
  return inner;
}
