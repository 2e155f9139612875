import { type OutputUnit, Validator } from "@cfworker/json-schema";
import type { RJSFSchema, RJSFValidationError, ValidationData, ValidatorType } from "@rjsf/utils";
import { errorTree } from "./error-tree.ts";

/** Keywords that only say that something inside is wrong. */
const AROUND = new Set(["properties", "items", "allOf", "anyOf", "oneOf", "$ref", "if"]);

/**
 * Checks by interpreting schemas: the validators that come with the forms compile them to code, which the page's policy
 * forbids.
 */
export const validator: ValidatorType = {
  validateFormData(data, schema): ValidationData<unknown> {
    const problems = problemsOf(data, schema);
    const errors: RJSFValidationError[] = problems.map(({ steps, message }) => ({
      stack: `${steps.join(".")} ${message}`.trim(),
      message,
    }));
    return { errors, errorSchema: errorTree(problems) };
  },
  isValid: (schema, data, root) =>
    problemsOf(data, { ...schema, $defs: { ...root.$defs, ...schema.$defs } }).length === 0,
  rawValidation: () => ({ errors: [] }),
};

interface Placed {
  steps: (string | number)[];
  message: string;
}

/** What is wrong with a value, at its places. A schema that cannot be read finds nothing: the server has the last word. */
export function problemsOf(value: unknown, schema: RJSFSchema): Placed[] {
  if (value === undefined) return [{ steps: [], message: "is missing" }];
  try {
    const { errors } = new Validator(schema as object, "2020-12", false).validate(value);
    const placed = errors.filter(({ keyword }) => !AROUND.has(keyword)).map(placedAt);
    return placed.length > 0 || errors.length === 0 ? placed : errors.slice(0, 1).map(placedAt);
  } catch {
    return [];
  }
}

function placedAt({ instanceLocation, keyword, error }: OutputUnit): Placed {
  const steps = instanceLocation
    .split("/")
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~"))
    .map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  const missing = keyword === "required" ? /property "(.+)"/.exec(error)?.[1] : undefined;
  if (missing !== undefined) return { steps: [...steps, missing], message: "is missing" };
  return { steps, message: error };
}
