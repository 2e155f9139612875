import { describe, expect, test } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import * as zod3 from "zod/v3";
import { AssistantAgent, FunctionTool, ReplayChatCompletionClient } from "troupe";
import { jsonSchemaOf, type ObjectSchema } from "#core/json-schema/object-schema.ts";
import { runContext } from "#core/turn/run-context.ts";

const toolWith = (parameters: unknown): FunctionTool =>
  new FunctionTool({
    name: "f",
    description: "d",
    parameters: parameters as ObjectSchema,
    execute: () => 1,
  });

/** A schema of no library in particular. */
function schemaOf(standard: object): unknown {
  return { "~standard": { version: 1, vendor: "own", ...standard } };
}

describe("the JSON Schema of a zod object", () => {
  test("names the keys of every level, and keeps their descriptions", () => {
    const inner = z.object({ min: z.int().optional(), at: z.string().describe("When.") });
    const schema = z
      .object({
        list: z.array(inner),
        one: z.union([inner, z.null()]),
        any: z.record(z.string(), inner),
        open: z.looseObject({ a: z.string() }),
        required: z.object({ properties: z.string().default("x") }),
      })
      .meta({ title: "T" });
    const closedInner = {
      type: "object",
      properties: { min: { type: "integer" }, at: { type: "string", description: "When." } },
      required: ["at"],
      additionalProperties: false,
    };
    expect(jsonSchemaOf(schema, "parameters")).toEqual({
      type: "object",
      title: "T",
      properties: {
        list: { type: "array", items: closedInner },
        one: { anyOf: [closedInner, { type: "null" }] },
        any: {
          type: "object",
          propertyNames: { type: "string" },
          additionalProperties: closedInner,
        },
        open: {
          type: "object",
          properties: { a: { type: "string" } },
          required: ["a"],
          additionalProperties: {},
        },
        required: {
          type: "object",
          properties: { properties: { type: "string", default: "x" } },
          required: [],
          additionalProperties: false,
        },
      },
      required: ["list", "one", "any", "open", "required"],
      additionalProperties: false,
    });
  });

  test("refers to a schema that contains itself", () => {
    const node = z.object({
      get children() {
        return z.array(node);
      },
    });
    expect(jsonSchemaOf(node, "parameters")).toMatchObject({
      properties: { children: { type: "array", items: { $ref: "#" } } },
    });
  });
});

test.each<[what: string, schema: unknown, message: RegExp]>([
  ["zod 3", zod3.z.object({ n: zod3.z.number() }), /parameters of "f" .* from version 4\.2 on/],
  [
    "zod 3 before Standard Schema",
    { _def: {}, safeParse: () => ({}) },
    /parameters of "f" .* from version 4\.2 on/,
  ],
  ["zod/mini", mini.object({ n: mini.number() }), /not "zod\/mini"/],
  [
    "valibot",
    schemaOf({ vendor: "valibot", validate: () => ({}) }),
    /toStandardJsonSchema\(schema\) from "@valibot\/to-json-schema"/,
  ],
  [
    "another library",
    schemaOf({ validate: () => ({}) }),
    /Standard JSON Schema.*pass a JSON Schema/,
  ],
  ["a text", z.string(), /parameters of "f" must be the schema of an object, not of "string"/],
  ["a union", z.union([z.object({}), z.string()]), /must be the schema of an object/],
  ["a date", z.object({ at: z.date() }), /parameters of "f" has no JSON Schema: Date/],
])("%s is refused with a sentence", (_what, schema, message) => {
  expect(() => toolWith(schema)).toThrow(message);
});

test("outputContentType is refused in the same way", () => {
  const modelClient = new ReplayChatCompletionClient([]);
  const make = (type: unknown) =>
    new AssistantAgent({ name: "a", modelClient, outputContentType: type as ObjectSchema });
  expect(() => make(zod3.z.object({}))).toThrow(/outputContentType .* from version 4\.2 on/);
  expect(() => make({ type: "object" })).toThrow(
    "outputContentType: must be a zod object, or a StructuredMessageFactory, not an object with type",
  );
});

describe("a schema of any library", () => {
  const run = {
    signal: new AbortController().signal,
    idempotencyKey: "k",
    callId: "1",
    env: {},
    run: runContext({ id: "run" }),
  };
  const jsonSchema = { input: () => ({ type: "object", properties: { n: { type: "number" } } }) };

  test("gives its JSON Schema and checks the arguments", async () => {
    const schema = schemaOf({
      jsonSchema,
      validate: ({ n }: { n: unknown }) =>
        typeof n === "number"
          ? { value: { n: n + 1 } }
          : { issues: [{ message: "is not a number", path: [{ key: "n" }] }] },
    });
    const tool = new FunctionTool({
      name: "f",
      description: "d",
      parameters: schema as ObjectSchema<{ n: number }>,
      execute: ({ n }) => n,
    });
    expect(tool.schema.parameters).toEqual({
      type: "object",
      properties: { n: { title: "N", type: "number" } },
      required: [],
      additionalProperties: false,
    });
    expect(await tool.run({ n: 1 }, run)).toBe(2);
    await expect(tool.run({ n: "1" }, run)).rejects.toMatchObject({
      message: "invalid arguments for f: n: is not a number",
      issues: [{ path: "n", message: "is not a number" }],
    });
  });

  test("must not check asynchronously", async () => {
    const schema = schemaOf({ jsonSchema, validate: () => Promise.resolve({ value: {} }) });
    await expect(toolWith(schema).run({}, run)).rejects.toThrow(/asynchronous checks/);
  });
});
