import { isJsonObject, type Json, type JsonObject, sortedJson } from "../json.ts";
import type { WorkLimit } from "./work-limit.ts";

/** What one schema finds at one place. */
export interface Verdict {
  failures: readonly Failure[];
  /** The properties and items that a schema describes, for `unevaluatedProperties` and `unevaluatedItems`. */
  described: ReadonlySet<PropertyKey>;
}

export interface Failure {
  keys: readonly PropertyKey[];
  message: string;
  /** The value is of another type than the schema describes. */
  otherType?: boolean;
}

/** A value inside of the one being checked, with the verdicts of the schemas that looked at it. */
export class Place {
  readonly value: Json;
  readonly verdicts = new Map<JsonObject, Verdict>();
  readonly #above: Place | undefined;
  readonly #key: PropertyKey;
  readonly #children = new Map<PropertyKey, Place>();
  #canonical: string | undefined;

  constructor(value: Json, above?: Place, key: PropertyKey = "") {
    this.value = value;
    this.#above = above;
    this.#key = key;
  }

  child(key: string | number): Place {
    let child = this.#children.get(key);
    if (child === undefined) {
      child = new Place(childValue(this.value, key), this, key);
      this.#children.set(key, child);
    }
    return child;
  }

  keys(): PropertyKey[] {
    return this.#above === undefined ? [] : [...this.#above.keys(), this.#key];
  }

  /** The value as text that is the same for equal values. */
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
