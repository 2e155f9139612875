import { type Json, type JsonObject, isJsonObject, sortedJson } from "../../json.ts";
import type { Pattern } from "../pattern/pattern.ts";
import type { WorkLimit } from "../pattern/work-limit.ts";

/** More issues would bury the first one, and schemas that repeat each other would multiply them. */
const MAX_FAILURES = 20;

/** The check that an inspection is a part of. */
export interface Check {
  readonly root: JsonObject;
  readonly patterns: ReadonlyMap<string, Pattern>;
  readonly limit: WorkLimit;
  /** Applies a schema to a place. */
  verdict(schema: Json, place: InspectedValue): SchemaVerdict;
}

/** One schema applied to one place: the findings of its keywords so far. */
export class Inspection implements SchemaVerdict {
  readonly validation: Check;
  readonly schema: JsonObject;
  readonly place: InspectedValue;
  readonly failures: Failure[] = [];
  readonly described = new Set<PropertyKey>();

  constructor(validation: Check, schema: JsonObject, place: InspectedValue) {
    this.validation = validation;
    this.schema = schema;
    this.place = place;
  }

  get value(): Json {
    return this.place.value;
  }

  fail(message: string, below: readonly PropertyKey[] = []): void {
    this.add({ keys: [...this.place.keys(), ...below], message });
  }

  add(...failures: readonly Failure[]): void {
    this.failures.push(...failures.slice(0, MAX_FAILURES - this.failures.length));
  }

  /** The findings of another schema about this place, or a nested one. */
  verdict(schema: Json, place = this.place): SchemaVerdict {
    return this.validation.verdict(schema, place);
  }

  accepts(schema: Json, place = this.place): boolean {
    return this.verdict(schema, place).failures.length === 0;
  }

  /** Applies another schema that must also hold at this place. */
  require(schema: Json): void {
    const verdict = this.verdict(schema);
    this.add(...verdict.failures);
    this.describe(verdict.described);
  }

  /** Applies a schema to a property or an item. */
  requireOf(key: string | number, schema: Json): void {
    this.add(...this.verdict(schema, this.place.child(key)).failures);
    this.described.add(key);
  }

  describe(keys: Iterable<PropertyKey>): void {
    for (const key of keys) this.described.add(key);
  }
}

/** The findings of one schema at one place. */
export interface SchemaVerdict {
  failures: readonly Failure[];
  /** The properties and items that a schema describes, for `unevaluatedProperties` and `unevaluatedItems`. */
  described: ReadonlySet<PropertyKey>;
}

export interface Failure {
  keys: readonly PropertyKey[];
  message: string;
  /** True if the value has another type than the schema describes. */
  otherType?: boolean;
}

/** A nested value, with the findings of the schemas applied to it. */
export class InspectedValue {
  readonly value: Json;
  readonly verdicts = new Map<JsonObject, SchemaVerdict>();
  readonly #above: InspectedValue | undefined;
  readonly #key: PropertyKey;
  readonly #children = new Map<PropertyKey, InspectedValue>();
  #canonical: string | undefined;

  constructor(value: Json, above?: InspectedValue, key: PropertyKey = "") {
    this.value = value;
    this.#above = above;
    this.#key = key;
  }

  child(key: string | number): InspectedValue {
    let child = this.#children.get(key);
    if (child === undefined) {
      child = new InspectedValue(childValue(this.value, key), this, key);
      this.#children.set(key, child);
    }
    return child;
  }

  keys(): PropertyKey[] {
    return this.#above === undefined ? [] : [...this.#above.keys(), this.#key];
  }

  /** A text that is the same for equal values. */
  canonical(limit: WorkLimit): string {
    if (this.#canonical === undefined) {
      this.#canonical = sortedJson(this.value);
      limit.spend(this.#canonical.length >> 3);
    }
    return this.#canonical;
  }
}

function childValue(value: Json, key: string | number): Json {
  if (Array.isArray(value)) return value[Number(key)] ?? null;
  return isJsonObject(value) ? (value[key] ?? null) : null;
}
