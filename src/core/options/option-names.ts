// Options in code are in camel case, component JSON and other data in snake case. Where the two have the same fields, the
// schema of the data is the only description of both, and the functions here translate.

import type * as z from "zod";
import { type CamelCase, camelCase } from "./camel-case.ts";
import type { JsonObject } from "../json.ts";
import { nearMatches } from "./near-matches.ts";
import { type Issue, ValueError } from "../errors.ts";
import { issuesOf, listIssues, pathOf } from "../issues.ts";

/** Schemas of values whose keys are not options. */
const DATA = new WeakSet<z.core.$ZodType>();

/** Marks the schema of data that a program passes on unchanged, such as component JSON. */
export function asData<Schema extends z.ZodType>(schema: Schema): Schema {
  DATA.add(schema);
  return schema;
}

/**
 * The options of a config: its fields in camel case, at every level. Objects with arbitrary keys (headers, JSON
 * Schemas) and component JSON stay unchanged.
 */
export type CamelKeys<T> = unknown extends T
  ? T
  : T extends { provider: string; config: JsonObject }
    ? T
    : T extends readonly (infer Item)[]
      ? readonly CamelKeys<Item>[]
      : T extends object
        ? string extends keyof T
          ? T
          : { [Key in keyof T as CamelCase<Key>]: CamelKeys<T[Key]> }
        : T;

/**
 * Checks options and returns the config that they stand for, with its defaults.
 *
 * @param owner the class whose options they are
 * @param option the one whose value they are, if they are not all of its options
 * @throws ValueError that names every option that is unknown or not valid
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  options: CamelKeys<z.input<Schema>>,
  owner: string,
  option = "",
): z.output<Schema> {
  if (option === "" && (typeof options !== "object" || options === null)) {
    // Without the value: it may be a key.
    const kind = typeof options === "string" ? "a text" : String(options);
    throw new ValueError(`The options of ${owner} must be an object, not ${kind}`);
  }
  const unknown: Issue[] = [];
  const config = translated(schema, options, "config", (name, names, path) => {
    const message = unknownOption(name, names);
    unknown.push({ path: pathOf([...path, name], option), message });
  });
  const { data, error } = schema.safeParse(config);
  if (error === undefined && unknown.length === 0) return data;
  const invalid = error?.issues.map((issue) => ({
    ...issue,
    path: optionPath(schema, issue.path),
  }));
  const issues = [
    ...unknown,
    ...(invalid === undefined ? [] : issuesOf({ issues: invalid }, option)),
  ];
  throw new ValueError(`Invalid options of ${owner}: ${listIssues(issues)}`, { issues });
}

/** The error text for an unknown option name. */
export function unknownOption(name: string, names: readonly string[]): string {
  const [near] = nearMatches(name, names);
  const hint = near === undefined ? `use ${names.join(", ")}` : `did you mean "${near}"?`;
  return `is not an option; ${hint}`;
}

/** The options for a config. Fields that its schema does not have stay unchanged. */
export function optionsOf<Schema extends z.ZodType>(
  schema: Schema,
  config: z.output<Schema>,
): CamelKeys<z.output<Schema>> {
  return translated(schema, config, "options") as CamelKeys<z.output<Schema>>;
}

/**
 * A copy of `value` with renamed keys, as far as the schema knows them.
 *
 * @param to the result: a config from options, or options from a config
 * @param onUnknown called for a key that the object at `path` must not have, with the allowed keys
 */
function translated(
  given: z.core.$ZodType,
  value: unknown,
  to: "config" | "options",
  onUnknown?: (name: string, names: string[], path: readonly PropertyKey[]) => void,
  path: readonly PropertyKey[] = [],
): unknown {
  if (typeof value !== "object" || value === null) return value;
  const schema = unwrapped(given, value);
  if (DATA.has(schema)) return value;
  const { def } = schema._zod;
  if (def.type === "array" && Array.isArray(value)) {
    return value.map((item, index) =>
      translated(def.element, item, to, onUnknown, [...path, index]),
    );
  }
  if (def.type !== "object") return value;
  const known = new Map(
    Object.entries(def.shape).map(([field, inner]) => {
      const option = camelCase(field);
      return to === "config" ? [option, { name: field, inner }] : [field, { name: option, inner }];
    }),
  );
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const found = known.get(key);
      if (found !== undefined) {
        return [found.name, translated(found.inner, item, to, onUnknown, [...path, key])];
      }
      if (def.catchall === undefined) onUnknown?.(key, [...known.keys()], path);
      return [key, item];
    }),
  );
}

/** The schema of the value itself, without optional wrappers; for a union, the alternative for that kind of value. */
function unwrapped(given: z.core.$ZodType, value: object): z.core.$ZodTypes {
  const schema = given as z.core.$ZodTypes;
  const { def } = schema._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
      return unwrapped(def.innerType, value);
    case "union": {
      const fitting = def.options.find((option) => isFor(option as z.core.$ZodTypes, value));
      return fitting === undefined ? schema : unwrapped(fitting, value);
    }
    default:
      return schema;
  }
}

function isFor(alternative: z.core.$ZodTypes, value: object): boolean {
  const { def } = alternative._zod;
  if (def.type === "array") return Array.isArray(value);
  if (def.type !== "object" || Array.isArray(value)) return false;
  return Object.entries(def.shape).every(([field, schema]) => {
    const literal = (schema as z.core.$ZodTypes)._zod.def;
    if (literal.type !== "literal") return true;
    return literal.values.includes((value as { [field: string]: unknown })[field] as string);
  });
}

/** The path of an option, from the path of its field. */
function optionPath(schema: z.core.$ZodType, path: readonly PropertyKey[]): PropertyKey[] {
  const [key, ...rest] = path;
  if (key === undefined) return [];
  const { def } = (schema as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case "optional":
    case "nullable":
    case "default":
      return optionPath(def.innerType, path);
    case "array":
      return [key, ...optionPath(def.element, rest)];
    case "object": {
      const field = def.shape[String(key)];
      return field === undefined ? [...path] : [camelCase(String(key)), ...optionPath(field, rest)];
    }
    case "union": {
      const paths = def.options.map((option) => optionPath(option, path));
      return paths.find((one) => one.some((name, index) => name !== path[index])) ?? [...path];
    }
    default:
      return [...path];
  }
}
