import type { Issue } from "../errors.ts";
import { pathOf } from "../issues.ts";
import {
  isExactNumber,
  isInteger,
  isJsonObject,
  type Json,
  type JsonObject,
  withNumbers,
} from "../json.ts";
import type { JsonSchema } from "./json-schema.ts";

/**
 * Arguments with integers in the types that a schema of code may have meant, because it refused others: a text for a bigint of a
 * number that JavaScript would change, and a bigint for another integer. Elsewhere such numbers are bigints.
 *
 * @param refusedAt the paths of the values that were refused, or of what contains them
 */
export function withOtherIntegers(args: JsonObject, refusedAt: readonly string[]): unknown {
  const isRefused = (path: string): boolean =>
    refusedAt.some((one) => one === "" || path === one || /^[.[]/.test(rest(path, one)));
  const other = (value: Json, keys: readonly PropertyKey[]): unknown => {
    const refused = isRefused(pathOf(keys));
    if (isExactNumber(value)) {
      const { rawJSON } = value;
      return refused || !isInteger(rawJSON) ? rawJSON : BigInt(rawJSON);
    }
    if (typeof value === "number")
      return refused && Number.isInteger(value) ? BigInt(value) : value;
    if (Array.isArray(value)) return value.map((item, index) => other(item, [...keys, index]));
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [key, other(item, [...keys, key])]),
    );
  };
  return other(args, []);
}

/**
 * A value for code of JavaScript, checked: a number that JavaScript would change is a text where the schema takes one, and an issue
 * elsewhere.
 */
export function checkedForCode<T extends Json>(
  value: T,
  schema: JsonSchema,
): { value: T; issues: Issue[] } {
  const exact = exactNumbersIn(value);
  const asTexts = exact.size === 0 ? value : (withNumbers({ value }, String)["value"] as T);
  return { value: asTexts, issues: explained(schema.check(asTexts), exact, "a string") };
}

/** The part of a path after `beginning`; empty if the path begins otherwise. */
function rest(path: string, beginning: string): string {
  return path.startsWith(beginning) ? path.slice(beginning.length) : "";
}

/** The numbers in a value that JavaScript would change, by their paths. */
export function exactNumbersIn(
  value: Json,
  keys: readonly PropertyKey[] = [],
): Map<string, string> {
  if (isExactNumber(value)) return new Map([[pathOf(keys), value.rawJSON]]);
  const entries: [PropertyKey, Json][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(isJsonObject(value) ? value : {});
  return new Map(entries.flatMap(([key, item]) => [...exactNumbersIn(item, [...keys, key])]));
}

/**
 * The issues, of which those at such a number say what is wrong with it.
 *
 * @param types in which the schema could take it
 */
export function explained(
  issues: readonly Issue[],
  exact: ReadonlyMap<string, string>,
  types: string,
): Issue[] {
  return issues.map(({ path, message }) => {
    const number = exact.get(path);
    if (number === undefined) return { path, message };
    return {
      path,
      message: `is ${number}, which a number of JavaScript cannot hold: declare it as ${types}`,
    };
  });
}
