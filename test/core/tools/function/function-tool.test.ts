import { describe, expect, test } from "vitest";
import * as z from "zod";
import { Catalog, ComponentRegistry, FunctionTool, dumpComponent } from "troupe";
import { functionToolDefinition } from "#core/tools/function/function-tool-definition.ts";
import type { Tool, ToolRun } from "troupe";
import { runContext } from "#core/turn/run-context.ts";

const run: ToolRun = {
  signal: new AbortController().signal,
  idempotencyKey: "key",
  callId: "c1",
  env: {},
  run: runContext({ id: "run" }),
};

/** There is nothing to load inside a tool. */
const loader = new ComponentRegistry();

describe("a tool with zod parameters", () => {
  const tool = new FunctionTool({
    name: "greet",
    description: "Greets.",
    parameters: z.object({
      name: z.string().describe("Who."),
      times: z.number().int().default(1),
    }),
    execute: ({ name, times }) => `hello ${name} `.repeat(times).trim(),
  });

  test("shows the model the allowed arguments", () => {
    expect(tool.schema).toEqual({
      name: "greet",
      description: "Greets.",
      strict: false,
      parameters: {
        type: "object",
        properties: {
          name: { title: "Name", type: "string", description: "Who." },
          times: { title: "Times", type: "integer", default: 1 },
        },
        required: ["name"],
        additionalProperties: false,
      },
    });
  });

  test("has the titles of Python's schema, unless the schema has its own", () => {
    const { schema } = new FunctionTool({
      name: "list",
      description: "Lists.",
      parameters: z.object({
        max_items: z.number(),
        x2y: z.boolean(),
        ownTitle: z.string().meta({ title: "As it is" }),
      }),
      execute: () => "",
    });
    expect(schema.parameters).toMatchObject({
      properties: {
        max_items: { title: "Max Items" },
        x2y: { title: "X2Y" },
        ownTitle: { title: "As it is" },
      },
    });
  });

  test("gets checked arguments with defaults", async () => {
    expect(await tool.run({ name: "Ann" }, run)).toBe("hello Ann");
    expect(await tool.run({ name: "Bo", times: 2 }, run)).toBe("hello Bo hello Bo");
  });

  test("names every wrong argument", async () => {
    await expect(tool.run({ times: "many" }, run)).rejects.toMatchObject({
      code: "invalid_value",
      message: expect.stringMatching(/invalid arguments for greet: name: .*; times: /),
    });
  });

  test("is not repeated after a restart unless it allows it", () => {
    expect(tool.policy).toBe("never");
  });
});

describe("a tool with a JSON Schema", () => {
  const tool = new FunctionTool({
    name: "add",
    description: "Adds.",
    parameters: {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "integer" }, note: { type: "string" } },
      required: ["a", "b"],
      additionalProperties: false,
    },
    execute: (args) => args,
    policy: "retry",
  });

  test("gets the fields of the schema", async () => {
    expect(await tool.run({ a: 1, b: "2", note: null, more: true }, run)).toEqual({ a: 1, b: 2 });
  });

  test("refuses arguments that do not fit", async () => {
    await expect(tool.run({ a: "one" }, run)).rejects.toMatchObject({
      issues: expect.arrayContaining([
        expect.objectContaining({ path: "a" }),
        expect.objectContaining({ path: "b" }),
      ]),
    });
  });
});

describe("a strict tool", () => {
  const strict = (parameters: z.ZodObject) => () =>
    new FunctionTool({ name: "t", description: "", parameters, execute: () => "", strict: true });

  test("requires all fields, inside too", () => {
    expect(strict(z.object({ a: z.string(), b: z.string().optional() }))).toThrow(
      /all of parameters must be required, but b can be left out/,
    );
    expect(strict(z.object({ a: z.object({ b: z.string().default("") }) }))).toThrow(
      /all of parameters\.a must be required/,
    );
    expect(strict(z.looseObject({ a: z.string() }))).toThrow(/must not allow other keys/);
  });

  test("accepts nullable arguments", () => {
    expect(strict(z.object({ a: z.array(z.object({ b: z.string().nullable() })) }))).not.toThrow();
  });
});

test.each([
  ["text", "text"],
  ["", ""],
  [{ name: "Ann", tags: ["x", 1, null] }, '{"name":"Ann","tags":["x",1,null]}'],
  [[true, 1.5], "[true,1.5]"],
  [true, "true"],
  [0.25, "0.25"],
  [null, "null"],
  [undefined, "null"],
])("a model reads %j as %s", async (value, text) => {
  const tool = new FunctionTool({
    name: "t",
    description: "",
    parameters: z.object({}),
    execute: () => Promise.resolve(value),
  });
  expect(tool.valueAsText(await tool.run({}, run))).toBe(text);
});

describe("a tool in component JSON", () => {
  const catalog = new Catalog();
  catalog.registerTool(
    new FunctionTool({
      name: "ping",
      description: "Says pong.",
      parameters: z.object({}),
      execute: () => "pong",
      policy: "retry",
    }),
  );
  const definition = functionToolDefinition(catalog);
  const config = {
    source_code: "def ping() -> str:\n    return 'pong'\n",
    name: "ping",
    description: "Plays.",
    global_imports: ["typing", { module: "os", imports: ["path"] }],
    has_cancellation_support: false,
  };

  test("runs the registered function under the description of the JSON", async () => {
    const tool = definition.fromConfig(definition.configSchema.parse(config), loader) as Tool;
    expect(tool.schema).toMatchObject({ name: "ping", description: "Plays." });
    expect(tool.policy).toBe("retry");
    expect(await tool.run({}, run)).toBe("pong");
  });

  test("is dumped as it was loaded", () => {
    const tool = definition.fromConfig(definition.configSchema.parse(config), loader);
    expect(dumpComponent(tool)).toEqual({
      provider: "autogen_core.tools.FunctionTool",
      component_type: "tool",
      version: 1,
      component_version: 1,
      config,
    });
  });

  test("is refused by name if its function is not registered", () => {
    const parsed = definition.configSchema.parse({ ...config, name: "rm" });
    expect(() => definition.fromConfig(parsed, loader)).toThrow(/no tool named "rm" is registered/);
  });

  test("is refused if it has a state, because teams would share it", () => {
    const stateful = Object.assign(
      new FunctionTool({
        name: "counter",
        description: "",
        parameters: z.object({}),
        execute: () => 1,
      }),
      { saveState: () => ({}), loadState: () => {} },
    );
    const own = new Catalog();
    own.registerTool(stateful);
    const { configSchema, fromConfig } = functionToolDefinition(own);
    expect(() => fromConfig(configSchema.parse({ name: "counter" }), loader)).toThrow(
      /all teams would share/,
    );
  });
});
