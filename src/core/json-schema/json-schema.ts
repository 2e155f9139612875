import type { Issue } from "../errors.ts";
import { pathOf } from "../issues.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Pattern } from "./pattern/pattern.ts";
import { InspectedValue } from "./keywords/inspection.ts";
import { patternsOf } from "./read-schema.ts";
import { Validation } from "./validation.ts";
import { isTooDeep, isTooMuch, MAX_DEPTH, WorkLimit } from "./pattern/work-limit.ts";

/**
 * A JSON Schema (2020-12) ready to check values. References may lead inside the schema only. The work of a check is
 * limited, whatever the schema and the value: both come from outside, and a check cannot be interrupted.
 */
export class JsonSchema {
  readonly schema: JsonObject;
  readonly #patterns: ReadonlyMap<string, Pattern>;

  /** @throws ValueError when it cannot be used: a reference that leads nowhere, an invalid pattern */
  constructor(schema: JsonObject) {
    this.#patterns = patternsOf(schema);
    this.schema = schema;
  }

  /** The issues of `value`; empty if it is valid. Paths start with `base`. */
  check(value: Json, base = ""): Issue[] {
    if (isTooDeep(value)) {
      return [{ path: base, message: `is nested deeper than ${MAX_DEPTH} levels` }];
    }
    try {
      const { failures } = this.#validation(new WorkLimit()).verdict(
        this.schema,
        new InspectedValue(value),
      );
      return failures.map(({ keys, message }) => ({ path: pathOf(keys, base), message }));
    } catch (error) {
      if (!isTooMuch(error)) throw error;
      const message = "is too large or too complex to be checked against its JSON schema";
      return [{ path: base, message }];
    }
  }

  /**
   * True if a part of this schema accepts a value.
   *
   * @throws an error that {@link isTooMuch} knows
   */
  partAccepts(part: JsonObject, value: Json, limit: WorkLimit): boolean {
    return this.#validation(limit).verdict(part, new InspectedValue(value)).failures.length === 0;
  }

  #validation(limit: WorkLimit): Validation {
    return new Validation(this.schema, this.#patterns, limit);
  }
}
