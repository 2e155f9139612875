import type * as z from "zod";
import { type Issue, ValueError } from "../errors.ts";
import { issuesOf, listIssues } from "../issues.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";
import { prune } from "../json-schema/fit.ts";
import { jsonSchemaOf } from "../json-schema/from-zod.ts";
import { JsonSchema } from "../json-schema/json-schema.ts";

/** What a tool takes: a zod object, or a JSON Schema of type object. */
export type ParametersSource = z.ZodObject | JsonObject;

/** The arguments that a {@link ParametersSource} describes. */
export type ArgumentsOf<P extends ParametersSource> = P extends z.ZodType
  ? z.output<P>
  : JsonObject;

/** A tool's parameters, ready for the model and for checking what the model sends. */
export interface ToolParameters<Args> {
  schema: JsonObject;
  /** @throws ValueError that names every wrong argument */
  parse: (args: JsonObject) => Args;
}

/**
 * @throws ValueError when `strict` and an object in the schema allows left out or unknown keys, which strict mode of
 * the models does not know
 */
export function toolParameters<P extends ParametersSource>(
  tool: string,
  source: P,
  strict: boolean,
): ToolParameters<ArgumentsOf<P>> {
  const parameters = isZodObject(source) ? fromZod(tool, source) : fromJsonSchema(tool, source);
  if (strict) checkStrict(tool, parameters.schema, "parameters");
  return parameters as ToolParameters<ArgumentsOf<P>>;
}

function isZodObject(source: ParametersSource): source is z.ZodObject {
  return "_zod" in source;
}

function fromZod(tool: string, source: z.ZodObject): ToolParameters<unknown> {
  return {
    schema: jsonSchemaOf(source),
    parse: (args) => {
      const parsed = source.safeParse(args);
      if (parsed.success) return parsed.data;
      throw refused(tool, issuesOf(parsed.error));
    },
  };
}

function fromJsonSchema(tool: string, source: JsonObject): ToolParameters<JsonObject> {
  const schema = new JsonSchema(source);
  return {
    schema: source,
    parse: (args) => {
      // Models write null for what they leave out, and keys nobody asked for.
      const known = prune(args, source) as JsonObject;
      const issues = schema.check(known);
      if (issues.length > 0) throw refused(tool, issues);
      return known;
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
