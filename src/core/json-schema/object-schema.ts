import * as z from "zod";
import { shortForm, errorMessage, type Issue, ValueError } from "../errors.ts";
import { issuesOf } from "../issues.ts";
import { isJsonObject, type Json, type JsonObject } from "../json.ts";

/**
 * The schema of an object, of any library that implements Standard Schema and Standard JSON Schema: an object of zod 4.2 or
 * later, of ArkType, or of valibot with `toStandardJsonSchema`.
 */
export interface ObjectSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
    readonly validate: (
      value: unknown,
    ) => ObjectSchemaResult<Output> | Promise<ObjectSchemaResult<Output>>;
    readonly jsonSchema: {
      readonly input: (options: {
        readonly target: "draft-2020-12";
        readonly libraryOptions?: Record<string, unknown> | undefined;
      }) => Record<string, unknown>;
    };
  };
}

/** The result of a schema for a value: the value that it makes of it, or the issues. */
export type ObjectSchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly ObjectSchemaIssue[] };

/** The message about a fault, and its place. */
export interface ObjectSchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** True for a schema of a library, false for a JSON Schema. Those of ArkType are functions. */
export function isObjectSchema(source: ObjectSchema | JsonObject): source is ObjectSchema {
  return isSchema(source);
}

/** True for a schema of any library, usable or not. */
export function isSchema(value: unknown): boolean {
  if (typeof value !== "function" && (typeof value !== "object" || value === null)) return false;
  return "~standard" in value || isZod3(value);
}

/**
 * The JSON Schema of what a schema accepts, in the shape models know from AutoGen: no other keys unless it allows them,
 * `required` always there.
 *
 * @param option whose value the schema is, for errors
 * @throws ValueError for a schema that does not say its JSON Schema, or does not describe an object
 */
export function jsonSchemaOf(source: ObjectSchema, option: string): JsonObject {
  const { $schema: _, ...schema } = ownJsonSchema(source, option);
  if (schema["type"] !== "object") {
    throw refused(option, `must be the schema of an object, not of ${shortForm(schema["type"])}`);
  }
  return closed(schema);
}

/** Checks a value. @returns the parsed value, or its issues */
export function checkedBySchema<Output>(
  source: ObjectSchema<Output>,
  value: unknown,
): { value: Output } | { issues: Issue[] } {
  const result = source["~standard"].validate(value);
  if (result instanceof Promise) {
    throw new ValueError("the schema has asynchronous checks; make them in the function instead");
  }
  if (result.issues === undefined) return { value: result.value };
  const issues = result.issues.map((issue) => ({
    ...issue,
    path: (issue.path ?? []).map((key) => (typeof key === "object" ? key.key : key)),
  }));
  return { issues: issuesOf({ issues } as Parameters<typeof issuesOf>[0]) };
}

function ownJsonSchema(source: ObjectSchema, option: string): JsonObject {
  const standard = isZod3(source) ? undefined : source["~standard"];
  if (typeof standard?.jsonSchema?.input !== "function") {
    throw refused(option, REMEDIES[standard?.vendor ?? "zod"] ?? OTHER_REMEDY);
  }
  try {
    return schemaOfInput(standard) as JsonObject;
  } catch (error) {
    throw refused(option, `has no JSON Schema: ${errorMessage(error)}`, error);
  }
}

function schemaOfInput({ jsonSchema }: ObjectSchema["~standard"]): Record<string, unknown> {
  const target = "draft-2020-12";
  try {
    return jsonSchema.input({ target });
  } catch (error) {
    // Versions of zod before 4.6 would take the option as a permission for all types without a JSON Schema.
    if (!/bigint/i.test(errorMessage(error))) throw error;
    return jsonSchema.input({ target, libraryOptions: { unrepresentable: integerOfBigint } });
  }
}

/** The schema that zod gets for a type without a JSON Schema: a bigint is an integer, and others are refused. */
function integerOfBigint({ zodSchema }: { zodSchema: unknown }): { type: "integer" } | undefined {
  return zodSchema instanceof z.core.$ZodBigInt ? { type: "integer" } : undefined;
}

/** Advice for schemas that do not provide their JSON Schema, by library. */
const REMEDIES: { readonly [vendor: string]: string } = {
  zod: 'is a schema of zod that does not say its JSON Schema, which those of "zod" do from version 4.2 on (not "zod/v3", not "zod/mini")',
  valibot:
    'is a schema of valibot, which does not say its JSON Schema by itself: pass toStandardJsonSchema(schema) from "@valibot/to-json-schema"',
};
const OTHER_REMEDY =
  "is a schema that does not say its JSON Schema (Standard JSON Schema): use a newer version of its library, or pass a JSON Schema";

/** zod 3 before 3.24 does not implement Standard Schema. */
function isZod3(source: object): boolean {
  return !("~standard" in source) && "_def" in source && "safeParse" in source;
}

function refused(option: string, message: string, cause?: unknown): ValueError {
  return new ValueError(`${option} ${message}`, { issues: [{ path: option, message }], cause });
}

const OF_SCHEMAS = new Set(["properties", "patternProperties", "$defs", "definitions"]);
const LISTS_OF_SCHEMAS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SCHEMAS = new Set([
  "items",
  "additionalProperties",
  "propertyNames",
  "contains",
  "not",
  "if",
  "then",
  "else",
]);

/** A copy in which every object, at every level, declares whether it allows additional properties. */
function closed(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).map(([keyword, value]): [string, Json] => {
    if (SCHEMAS.has(keyword)) return [keyword, closedValue(value)];
    if (LISTS_OF_SCHEMAS.has(keyword) && Array.isArray(value)) {
      return [keyword, value.map(closedValue)];
    }
    if (!OF_SCHEMAS.has(keyword) || !isJsonObject(value)) return [keyword, value];
    const inner = Object.entries(value).map(([name, one]) => [name, closedValue(one)]);
    return [keyword, Object.fromEntries(inner) as JsonObject];
  });
  const copy: JsonObject = Object.fromEntries(entries);
  if (copy["type"] === "object" && copy["properties"] !== undefined) {
    copy["required"] ??= [];
    copy["additionalProperties"] ??= false;
  }
  // zod's encoding of "integer", which the type already expresses.
  if (copy["minimum"] === Number.MIN_SAFE_INTEGER) delete copy["minimum"];
  if (copy["maximum"] === Number.MAX_SAFE_INTEGER) delete copy["maximum"];
  return copy;
}

function closedValue(value: Json): Json {
  return isJsonObject(value) ? closed(value) : value;
}
