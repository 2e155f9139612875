import { type OutputUnit, type Schema, Validator } from "@cfworker/json-schema";
import { errorMessage, type Issue, ValueError } from "../errors.ts";
import { pathOf } from "../issues.ts";
import type { Json, JsonObject } from "../json.ts";
import { resolveReference } from "./reference.ts";

/** A JSON Schema (2020-12) ready to check values. References may lead inside the schema only. */
export class JsonSchema {
  readonly schema: JsonObject;
  readonly #validator: Validator;

  /** @throws ValueError when it cannot be used: a reference that leads nowhere, a pattern that is none */
  constructor(schema: JsonObject) {
    checkUsable(schema, schema, []);
    this.schema = schema;
    // The validator leaves notes in the schema it is given.
    this.#validator = new Validator(structuredClone(schema) as Schema, "2020-12", false);
  }

  /** What is wrong with `value`; empty when nothing is. Paths start with `base`. */
  check(value: Json, base = ""): Issue[] {
    const { valid, errors } = this.#validator.validate(value);
    return valid ? [] : leaves(errors).map((unit) => toIssue(unit, base));
  }
}

/** The validator reports a mistake at each level above it, too, and every alternative of a union. */
function leaves(units: readonly OutputUnit[]): OutputUnit[] {
  const outside = units.filter(
    ({ keywordLocation }) => !/\/(?:anyOf|oneOf|not|if)\//.test(keywordLocation),
  );
  return outside.filter(
    ({ keywordLocation, instanceLocation, keyword }) =>
      keyword === "anyOf" ||
      keyword === "oneOf" ||
      !outside.some(
        (other) =>
          other.keywordLocation.startsWith(`${keywordLocation}/`) &&
          other.instanceLocation.startsWith(instanceLocation),
      ),
  );
}

function toIssue({ keyword, instanceLocation, error }: OutputUnit, base: string): Issue {
  const keys = instanceLocation.split("/").slice(1).map(decodeKey);
  const missing = keyword === "required" ? /"(.*)"/.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { path: pathOf([...keys, missing], base), message: "missing" };
  return { path: pathOf(keys, base), message: error };
}

function decodeKey(segment: string): string | number {
  const key = decodeURI(segment).replaceAll("~1", "/").replaceAll("~0", "~");
  return /^\d+$/.test(key) ? Number(key) : key;
}

function checkUsable(
  node: Json | undefined,
  root: JsonObject,
  keys: readonly (string | number)[],
): void {
  if (typeof node !== "object" || node === null) return;
  for (const [key, value] of Object.entries(node)) {
    const path = [...keys, Array.isArray(node) ? Number(key) : key];
    if (key === "$ref" && typeof value === "string") {
      if (resolveReference(value, root) === undefined) {
        throw new ValueError(
          `the JSON schema refers to "${value}", which is not in it (at ${pathOf(path)})`,
        );
      }
    } else if (key === "pattern" && typeof value === "string") {
      checkPattern(value, pathOf(path));
    } else {
      checkUsable(value, root, path);
    }
  }
}

function checkPattern(pattern: string, path: string): void {
  try {
    RegExp(pattern, "u");
  } catch (error) {
    throw new ValueError(
      `the JSON schema's pattern at ${path} is not usable: ${errorMessage(error)}`,
    );
  }
}
