import { coerce } from "../coerce.ts";
import { ValueError } from "../errors.ts";
import {
  isExactNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  parsedJson,
  sortedJson,
} from "../json.ts";
import { Arrangement } from "./arrange.ts";
import { JsonSchema } from "./json-schema.ts";
import { MergedSchemas } from "./merged-schemas.ts";
import { isTooDeep, isTooMuch, WorkLimit } from "./pattern/work-limit.ts";

/**
 * Arguments of a model in the types of their schema, where a value has exactly one reading in it: a list or an object that is
 * written as a text, a number for a text, a text for a number or a boolean, at any depth. A value that the schema accepts, and
 * one with no reading or with several, stays as it is: the check that follows says what is wrong with it.
 */
export function fitted(args: JsonObject, parameters: JsonObject): JsonObject {
  if (isTooDeep(args)) return args;
  try {
    const value = new Fitting(new JsonSchema(parameters)).fit(args, parameters);
    return isJsonObject(value) ? value : args;
  } catch (error) {
    // A schema of others may be one that cannot be used.
    if (isTooMuch(error) || error instanceof ValueError) return args;
    throw error;
  }
}

/** Unknown properties do not decide which alternative a value fits. */
const WITHOUT_UNKNOWN = { fill: "nothing", eased: false } as const;

class Fitting {
  readonly #schema: JsonSchema;
  readonly #flat: MergedSchemas;
  readonly #arrangement: Arrangement;
  readonly #limit = new WorkLimit();
  /** The values that are being fitted, by schema: a union may contain itself. */
  readonly #open = new Map<JsonObject, Set<Json>>();

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    this.#flat = new MergedSchemas(schema.schema);
    this.#arrangement = new Arrangement(schema);
  }

  fit(value: Json, schema: JsonObject): Json {
    this.#limit.spend();
    if (this.#schema.partAccepts(schema, value, this.#limit)) return value;
    const flat = this.#flat.of(schema);
    const open = this.#open.get(flat) ?? new Set();
    if (open.has(value)) return value;
    this.#open.set(flat, open.add(value));
    const fitting = this.#fit(value, schema, flat);
    open.delete(value);
    return fitting;
  }

  #fit(value: Json, schema: JsonObject, flat: JsonObject): Json {
    const alternatives = flat["anyOf"] ?? flat["oneOf"];
    if (Array.isArray(alternatives))
      return this.#fitUnion(value, alternatives.filter(isJsonObject));
    if (Array.isArray(value)) return this.#fitList(value, flat);
    if (isJsonObject(value)) return this.#fitObject(value, flat);
    const readings = typesOf(flat).flatMap((type) => this.#readings(value, type, schema));
    return onlyOne(readings) ?? value;
  }

  /** The alternative that takes a reading of the value, or the only one that has any. */
  #fitUnion(value: Json, alternatives: readonly JsonObject[]): Json {
    const readings = alternatives.map((schema) => ({ schema, reading: this.fit(value, schema) }));
    const taken = readings.filter(({ schema, reading }) => this.#takes(schema, reading));
    const possible = taken.length > 0 ? taken : readings.filter((one) => one.reading !== value);
    return onlyOne(possible.map(({ reading }) => reading)) ?? value;
  }

  #fitList(value: Json[], { items, prefixItems }: JsonObject): Json {
    const first = Array.isArray(prefixItems) ? prefixItems : [];
    return value.map((item, index) => {
      const schema = first[index] ?? items;
      return isJsonObject(schema) ? this.fit(item, schema) : item;
    });
  }

  #fitObject(value: JsonObject, { properties, additionalProperties }: JsonObject): Json {
    const named = isJsonObject(properties) ? properties : {};
    const entries = Object.entries(value).map(([key, item]): [string, Json] => {
      const schema = Object.hasOwn(named, key) ? named[key] : additionalProperties;
      return [key, isJsonObject(schema) ? this.fit(item, schema) : item];
    });
    return Object.fromEntries(entries);
  }

  /** The readings of a text, a number or a boolean as a value of another type. */
  #readings(value: Json, type: Json, schema: JsonObject): Json[] {
    if (type === "array" || type === "object") {
      const inner = typeof value === "string" ? parsedJson(value) : undefined;
      const isMeant = type === "array" ? Array.isArray(inner) : isJsonObject(inner);
      return inner !== undefined && isMeant ? [this.fit(inner, schema)] : [];
    }
    const reading = scalarOf(value, type);
    return reading !== value && this.#takes(schema, reading) ? [reading] : [];
  }

  #takes(schema: JsonObject, value: Json): boolean {
    const known = this.#arrangement.arrange(value, schema, WITHOUT_UNKNOWN);
    return this.#schema.partAccepts(schema, known, this.#limit);
  }
}

function scalarOf(value: Json, type: Json): Json {
  if (type === "null") return value === "null" ? null : value;
  if (type !== "string") return typeof type === "string" ? coerce(value, type) : value;
  if (isExactNumber(value)) return value.rawJSON;
  return typeof value === "number" ? String(value) : value;
}

/** The types of a schema, also where only its choices or its parts show them. */
function typesOf({ type, enum: choices, const: choice, properties, items }: JsonObject): Json[] {
  if (type !== undefined) return [type].flat();
  if (isJsonObject(properties)) return ["object"];
  if (items !== undefined) return ["array"];
  const values = Array.isArray(choices) ? choices : choice === undefined ? [] : [choice];
  return [...new Set(values.map((value) => (value === null ? "null" : typeof value)))];
}

/** The reading if all readings are the same one. */
function onlyOne(readings: readonly Json[]): Json | undefined {
  const [first] = readings;
  if (first === undefined) return undefined;
  const text = sortedJson(first);
  return readings.every((reading) => sortedJson(reading) === text) ? first : undefined;
}
