import * as fc from "fast-check";
import type { Arbitrary } from "fast-check";
import type { Schema } from "./operations.ts";

/** A part of a body in JSON text that `JSON.stringify` would never write. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Texts that programs stumble over. */
export const oddText: Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\0",
    "\n",
    "..",
    "../../etc/passwd",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "null",
    "undefined",
    "NaN",
    "-1",
    "1e309",
    "'; drop table meta; --",
    "%00",
    "%zz",
    "%",
    "${7*7}",
    "env:SECRETS_KEY",
    "**********",
    "\uD800",
    "\u202E",
    "👩‍👩‍👧‍👦",
    "İ",
    "ﬀ",
    "a".repeat(300),
    "9".repeat(400),
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.string({ maxLength: 20 }),
);

/** JSON values that are seldom expected. */
export const oddValue: Arbitrary<unknown> = fc.oneof(
  oddText,
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    0.5,
    1e21,
    2 ** 53,
    -(2 ** 53),
    1e308,
    [],
    {},
    [[]],
    [null],
    { type: "x" },
    new RawJson("1e400"),
    new RawJson("-1e400"),
    new RawJson("9".repeat(500)),
    new RawJson('{"__proto__":{"a":1}}'),
    new RawJson('{"a":1,"a":2}'),
    new RawJson('{"then":{"a":1}}'),
    new RawJson('{"toJSON":1,"constructor":{"prototype":{}}}'),
    new RawJson('"\\ud800"'),
    new RawJson(`${"[".repeat(90)}${"]".repeat(90)}`),
    new RawJson(`${"[".repeat(2000)}${"]".repeat(2000)}`),
  ),
  fc.json({ maxDepth: 3 }).map((text) => new RawJson(text)),
);

/** One of `usual` values, and once in `times` more a value of `rare`. */
export function seldom<T, U>(
  rare: Arbitrary<T>,
  times: number,
  usual: Arbitrary<U>,
): Arbitrary<T | U> {
  return fc.oneof<fc.MaybeWeightedArbitrary<T | U>[]>(
    { weight: times, arbitrary: usual },
    { weight: 1, arbitrary: rare },
  );
}

/** How many levels of a schema are filled in; below them any value will do. */
const DEEPEST = 8;

/** A value that mostly fits a schema: at every place there may be an odd one, a field too few or one too many. */
export function valueOf(schema: Schema, root: Schema = schema, depth = 0): Arbitrary<unknown> {
  if (depth > DEEPEST) return oddValue;
  // References lead to the nearest definitions.
  const nearest = schema.$defs === undefined ? root : schema;
  return fc.oneof(
    { weight: 30, arbitrary: fitting(schema, nearest, depth) },
    { weight: 1, arbitrary: oddValue },
  );
}

function fitting(schema: Schema, root: Schema, depth: number): Arbitrary<unknown> {
  const within = (part: Schema): Arbitrary<unknown> => valueOf(part, root, depth + 1);
  if (schema.$ref !== undefined) return within(resolve(schema.$ref, root));
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  // Beside `properties` it says which of them go together.
  if (choices !== undefined && schema.properties === undefined) {
    return fc.oneof(...choices.map(within));
  }
  if (schema.examples !== undefined) return fc.constantFrom(...schema.examples);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  return fc.oneof(...types.map((type) => ofType(type, schema, within)));
}

function ofType(
  type: string | undefined,
  schema: Schema,
  within: (part: Schema) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  const { minimum = schema.exclusiveMinimum ?? 0, maximum = 2 ** 31 } = schema;
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(
        fc.integer({ min: minimum, max: Math.min(maximum, minimum + 20) }),
        fc.constantFrom(minimum, minimum - 1, maximum, maximum + 1),
      );
    case "number":
      return fc.oneof(
        fc.double({ min: minimum, max: maximum, noNaN: true }),
        fc.constantFrom(minimum, minimum - 1e-9, maximum, maximum + 1),
      );
    case "string":
      return fc.oneof(
        fc.string({
          unit: fc.constantFrom("a", "b", "X", "0", "9", "_", "-"),
          minLength: 1,
          maxLength: 12,
        }),
        oddText,
      );
    case "array":
      return fc.array(within(schema.items ?? {}), { minLength: 0, maxLength: 3 });
    case "object":
      return objectOf(schema, within);
    default:
      return oddValue;
  }
}

function objectOf(
  { properties = {}, required = [], additionalProperties }: Schema,
  within: (part: Schema) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, part]) => [
      name,
      seldom(fc.constant(undefined), required.includes(name) ? 20 : 1, within(part)),
    ]),
  );
  const further =
    typeof additionalProperties === "object" ? within(additionalProperties) : oddValue;
  const others = fc.dictionary(oddText, further, { maxKeys: 2, noNullPrototype: true });
  const closed = additionalProperties === undefined || additionalProperties === false;
  return fc
    .tuple(fc.record(fields), seldom(others, closed ? 12 : 2, fc.constant({})))
    .map(([known, more]) => ({ ...more, ...known }));
}

/** The value with one part of it replaced, left out or doubled. */
export function mutated(values: Arbitrary<unknown>): Arbitrary<unknown> {
  return fc
    .tuple(values, fc.nat(10_000), oddValue, fc.constantFrom("replace", "remove", "double"))
    .map(([value, at, odd, how]) => {
      const copy = copyOf(value);
      const places = placesIn(copy);
      const place = places[at % Math.max(1, places.length)];
      if (place === undefined) return odd;
      const { holder, key } = place;
      if (how === "replace") Reflect.set(holder, key, odd);
      else if (how === "remove") Reflect.deleteProperty(holder, key);
      else Reflect.set(holder, key, [Reflect.get(holder, key), Reflect.get(holder, key)]);
      return copy;
    });
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (typeof value !== "object" || value === null || value instanceof RawJson) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, copyOf(part)]));
}

interface PlaceInValue {
  holder: object;
  key: string;
}

function placesIn(value: unknown): PlaceInValue[] {
  if (typeof value !== "object" || value === null || value instanceof RawJson) return [];
  return Object.entries(value).flatMap(([key, part]) => [
    { holder: value, key },
    ...placesIn(part),
  ]);
}

function resolve(reference: string, root: Schema): Schema {
  const path = reference.replace(/^#\/?/, "").split("/").filter(Boolean);
  let target: unknown = root;
  for (const key of path) target = (target as Record<string, unknown>)[key];
  return target as Schema;
}

/** JSON text of a value with raw parts in it. */
export function toJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (Array.isArray(value)) return `[${value.map(toJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${toJson(field)}`).join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}
