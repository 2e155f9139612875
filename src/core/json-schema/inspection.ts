import type { Json, JsonObject } from "../json.ts";
import type { Failure, Place, Verdict } from "./place.ts";
import type { Validation } from "./validation.ts";

/** More would bury the first, and schemas that repeat each other would multiply them. */
const MAX_FAILURES = 20;

/** One schema looking at one place: what its keywords have found so far. */
export class Inspection implements Verdict {
  readonly validation: Validation;
  readonly schema: JsonObject;
  readonly place: Place;
  readonly failures: Failure[] = [];
  readonly described = new Set<PropertyKey>();

  constructor(validation: Validation, schema: JsonObject, place: Place) {
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

  /** What another schema says about this place, or one inside of it. */
  verdict(schema: Json, place = this.place): Verdict {
    return this.validation.verdict(schema, place);
  }

  accepts(schema: Json, place = this.place): boolean {
    return this.verdict(schema, place).failures.length === 0;
  }

  /** Another schema that must hold here, too. */
  require(schema: Json): void {
    const verdict = this.verdict(schema);
    this.add(...verdict.failures);
    this.describe(verdict.described);
  }

  /** A schema that a property or an item must follow. */
  requireOf(key: string | number, schema: Json): void {
    this.add(...this.verdict(schema, this.place.child(key)).failures);
    this.described.add(key);
  }

  describe(keys: Iterable<PropertyKey>): void {
    for (const key of keys) this.described.add(key);
  }
}
