import { type Issue, ValueError } from "../../errors.ts";
import { listIssues } from "../../issues.ts";
import { isJsonObject, type Json, type JsonObject, withNumbers } from "../../json.ts";
import { prune } from "../../json-schema/arrange.ts";
import {
  checkedForCode,
  exactNumbersIn,
  explained,
  withOtherIntegers,
} from "../../json-schema/exact-numbers.ts";
import { JsonSchema } from "../../json-schema/json-schema.ts";
import {
  checkedBySchema,
  isObjectSchema,
  jsonSchemaOf,
  type ObjectSchema,
} from "../../json-schema/object-schema.ts";

/** The parameters of a tool: an object of zod or of another library, or a JSON Schema of type object. */
export type ParametersSource = ObjectSchema | JsonObject;

/** The arguments that a {@link ParametersSource} describes. */
export type ArgumentsOf<P extends ParametersSource> =
  P extends ObjectSchema<infer Output> ? Output : JsonObject;

/** A tool's parameters: the schema for the model and the parser for its arguments. */
export interface ToolParameters<Args> {
  schema: JsonObject;
  /** @throws ValueError that names every invalid argument */
  parse: (args: JsonObject) => Args;
  /**
   * The same for a function of JavaScript: a number that JavaScript would change is a text or a bigint where the schema takes one.
   *
   * @throws ValueError that names every invalid argument, and every such number that the schema takes as a number only
   */
  parseForCode: (args: JsonObject) => Args;
}

/**
 * @throws ValueError when `strict` is set and an object in the schema has optional or unknown keys, which the strict mode of
 * models excludes
 */
export function toolParameters<P extends ParametersSource>(
  tool: string,
  source: P,
  strict: boolean,
): ToolParameters<ArgumentsOf<P>> {
  const parameters = isObjectSchema(source)
    ? fromObjectSchema(tool, source)
    : fromJsonSchema(tool, source);
  if (strict) checkStrict(tool, parameters.schema, "parameters");
  return parameters as ToolParameters<ArgumentsOf<P>>;
}

function fromObjectSchema(tool: string, source: ObjectSchema): ToolParameters<unknown> {
  return {
    schema: titled(jsonSchemaOf(source, `parameters of "${tool}"`)),
    parse: (args) => {
      const checked = checkedBySchema(source, args);
      if ("value" in checked) return checked.value;
      throw refused(tool, checked.issues);
    },
    parseForCode: (args) => {
      const asBigints = checkedBySchema(source, withNumbers(args, BigInt));
      if ("value" in asBigints) return asBigints.value;
      const refusedAt = asBigints.issues.map(({ path }) => path);
      const asDeclared = checkedBySchema(source, withOtherIntegers(args, refusedAt));
      if ("value" in asDeclared) return asDeclared.value;
      throw refused(
        tool,
        explained(asDeclared.issues, exactNumbersIn(args), "a string or a bigint"),
      );
    },
  };
}

/** The schema with a title for each parameter that has none, as AutoGen's schemas of Python functions have it. */
function titled(schema: JsonObject): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const parameters = Object.entries(properties).map(([name, parameter]): [string, Json] => [
    name,
    isJsonObject(parameter) && parameter["$ref"] === undefined
      ? { title: titleOf(name), ...parameter }
      : parameter,
  ]);
  return { ...schema, properties: Object.fromEntries(parameters) };
}

/** `max_items` is "Max Items". Each run of letters gets a capital and then small letters, as Python's `title()` writes it. */
function titleOf(name: string): string {
  return name
    .replaceAll("_", " ")
    .replace(/\p{L}+/gu, (word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase());
}

function fromJsonSchema(tool: string, source: JsonObject): ToolParameters<JsonObject> {
  const schema = new JsonSchema(source);
  const pruned = (args: JsonObject): JsonObject => prune(args, schema) as JsonObject;
  return {
    schema: source,
    // Models send null for optional arguments, and unknown keys.
    parse: (given) => {
      const args = pruned(given);
      const issues = schema.check(args);
      if (issues.length > 0) throw refused(tool, issues);
      return args;
    },
    parseForCode: (given) => {
      const args = pruned(given);
      const { value, issues } = checkedForCode(args, schema);
      if (issues.length > 0) throw refused(tool, issues);
      return value;
    },
  };
}

function refused(tool: string, issues: Issue[]): ValueError {
  return new ValueError(`invalid arguments for ${tool}: ${listIssues(issues)}`, { issues });
}

function checkStrict(tool: string, schema: Json | undefined, path: string): void {
  if (Array.isArray(schema)) {
    for (const [index, item] of schema.entries()) checkStrict(tool, item, `${path}[${index}]`);
  }
  if (!isJsonObject(schema)) return;
  const { properties, required = [], additionalProperties = false } = schema;
  if (isJsonObject(properties)) {
    const names = new Set(Array.isArray(required) ? required : []);
    const optional = Object.keys(properties).filter((name) => !names.has(name));
    if (optional.length > 0) {
      throw new ValueError(
        `tool "${tool}" is strict, so all of ${path} must be required, but ${optional.join(", ")} can be left out; make it nullable instead`,
      );
    }
    if (additionalProperties !== false) {
      throw new ValueError(`tool "${tool}" is strict, so ${path} must not allow other keys`);
    }
    for (const [name, child] of Object.entries(properties)) {
      checkStrict(tool, child, `${path}.${name}`);
    }
  }
  for (const keyword of ["items", "anyOf", "allOf", "oneOf"]) {
    checkStrict(tool, schema[keyword], path);
  }
}
