import * as fc from "fast-check";
import * as z from "zod";
import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  type CreateResult,
  FunctionTool,
  HttpTool,
  type JsonObject,
  ReplayChatCompletionClient,
  run,
} from "troupe";

type AnyTool = FunctionTool | HttpTool;

/** The result of a model's call of a tool. */
async function called(tool: AnyTool, args: string): Promise<string> {
  const reply: CreateResult = {
    finish_reason: "function_calls",
    content: [{ id: "c1", name: tool.name, arguments: args }],
    usage: { prompt_tokens: 1, completion_tokens: 1 },
    cached: false,
    logprobs: null,
    thought: null,
  };
  const modelClient = new ReplayChatCompletionClient([reply], {
    modelInfo: {
      vision: false,
      functionCalling: true,
      jsonOutput: false,
      structuredOutput: false,
      family: "unknown",
    },
  });
  const agent = new AssistantAgent({
    name: "clerk",
    modelClient,
    tools: [tool],
    reflectOnToolUse: false,
  });
  const { messages } = await run(agent, { task: "Go." });
  return String((messages.at(-1) as { content?: unknown }).content);
}

/** The body that the server of an HttpTool gets. */
async function sent(q: JsonObject, args: string, more: JsonObject = {}): Promise<string> {
  let body = "";
  const tool = new HttpTool(
    {
      name: "send",
      host: "tool.test",
      jsonSchema: { type: "object", properties: { q }, ...more },
    },
    {
      fetch: (_, init) => {
        body = typeof init?.body === "string" ? init.body : "";
        return Promise.resolve(new Response("sent"));
      },
    },
  );
  const said = await called(tool, args);
  return body === "" ? said : body;
}

const text = { type: "string" };
const integer = { type: "integer" };
const listOf = (items: JsonObject): JsonObject => ({ type: "array", items });
const object = (properties: JsonObject): JsonObject => ({ type: "object", properties });
const NODE: JsonObject = {
  $defs: {
    node: object({ n: integer, next: { anyOf: [{ $ref: "#/$defs/node" }, { type: "null" }] } }),
  },
};

test.each<[string, JsonObject, unknown, unknown]>([
  ["a list as a text", listOf(text), '["a"]', ["a"]],
  ["an object as a text", object({ a: integer }), ' {"a":"1"} ', { a: 1 }],
  ["a list of objects as texts", listOf(object({ a: text })), ['{"a":1}'], [{ a: "1" }]],
  ["a list or null as a text", { anyOf: [listOf(text), { type: "null" }] }, '["a"]', ["a"]],
  ["types in a list", { type: ["array", "null"], items: text }, '["a"]', ["a"]],
  [
    "a recursive schema",
    { $ref: "#/$defs/node" },
    { n: "1", next: '{"n":"2"}' },
    { n: 1, next: { n: 2 } },
  ],
  ["a map", { type: "object", additionalProperties: integer }, { a: "1" }, { a: 1 }],
  ["a number for a text", text, 12.5, "12.5"],
  ["a text for a number", integer, "12", 12],
  ["a text for a boolean", { type: "boolean" }, "true", true],
  ["a text for a choice of numbers", { enum: [1, 2] }, "2", 2],
  ["a text that looks like a list", text, "[1]", "[1]"],
  ["a text that looks like a number", text, "12", "12"],
  ["a text where a list or a text is taken", { anyOf: [listOf(text), text] }, '["a"]', '["a"]'],
])("%s", async (_, schema, given, expected) => {
  expect(JSON.parse(await sent(schema, JSON.stringify({ q: given }), NODE))).toEqual({
    q: expected,
  });
});

test.each<[string, JsonObject, unknown]>([
  ["a list with several readings", { anyOf: [listOf(text), listOf(integer)] }, '"x"'],
  ["a text that is not a list", listOf(text), "a, b"],
  ["a list for a text", text, ["a"]],
  ["a text that is not a number", integer, "twelve"],
])("an argument that cannot be read is refused: %s", async (_, schema, given) => {
  expect(await sent(schema, JSON.stringify({ q: given }))).toMatch(
    /^invalid arguments for send: q/,
  );
});

test.each(["", "  ", "null", "{}", "[]"])("the value %j stands for no arguments", async (args) => {
  expect(await sent(text, args)).toBe("{}");
});

test("a value that fits is not changed, in whatever schema and however deep", async () => {
  const schema = { type: "object", properties: { q: { anyOf: [listOf({}), object({}), text] } } };
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(fc.string(), fc.array(fc.jsonValue()), fc.constant({})),
      async (q) => {
        const args = JSON.stringify({ q });
        expect(await sent(schema.properties.q, args)).toBe(args);
      },
    ),
    { numRuns: 60 },
  );
});

describe("a number that JavaScript would change", () => {
  const big = "9007199254740993";

  test.each<[string, JsonObject, string, string]>([
    ["an integer", integer, big, big],
    ["a negative one in a list", listOf(integer), `[-${big}]`, `[-${big}]`],
    ["one that a text has", integer, `"${big}"`, big],
    ["one for a text", text, big, `"${big}"`],
    ["one in a text that is a list", listOf(integer), `"[${big}]"`, `[${big}]`],
    ["one beyond the range", { type: "number" }, "1e999", "1e999"],
    [
      "one of thirty digits",
      integer,
      "123456789012345678901234567890",
      "123456789012345678901234567890",
    ],
    ["a float", { type: "number" }, "1e20", "100000000000000000000"],
  ])("reaches a server unchanged: %s", async (_, schema, given, expected) => {
    expect(await sent(schema, `{"q":${given}}`)).toBe(`{"q":${expected}}`);
  });

  test("stays exact in the path and in the query", async () => {
    const urls: string[] = [];
    const tool = new HttpTool(
      {
        name: "send",
        host: "tool.test",
        path: "/{id}",
        method: "GET",
        jsonSchema: object({ id: integer, q: integer }),
        returnType: "json",
      },
      {
        fetch: (url) => {
          urls.push(new Request(url).url);
          return Promise.resolve(new Response(`{"id":${big}}`));
        },
      },
    );
    expect(await called(tool, `{"id":${big},"q":${big}}`)).toBe(`{"id":${big}}`);
    expect(urls).toEqual([`http://tool.test/${big}?q=${big}`]);
  });

  const REFUSED = `invalid arguments for pay: q: is ${big}, which a number of JavaScript cannot hold: declare it as a string`;

  test.each<[string, FunctionTool["schema"]["parameters"] | z.ZodObject, string]>([
    ["a number of zod", z.object({ q: z.number() }), `${REFUSED} or a bigint`],
    ["an integer of zod", z.object({ q: z.int() }), `${REFUSED} or a bigint`],
    ["a text of zod", z.object({ q: z.string() }), `string "${big}"`],
    ["a bigint of zod", z.object({ q: z.bigint() }), `bigint ${big}`],
    ["a bigint that may be missing", z.object({ q: z.int64().nullish() }), `bigint ${big}`],
    ["a number or a bigint of zod", z.object({ q: z.number().or(z.bigint()) }), `bigint ${big}`],
    [
      "a number or a text of zod",
      z.object({ q: z.union([z.number(), z.string()]) }),
      `string "${big}"`,
    ],
    ["an integer of a JSON Schema", object({ q: integer }), REFUSED],
    [
      "an integer or a text of a JSON Schema",
      object({ q: { type: ["integer", "string"] } }),
      `string "${big}"`,
    ],
  ])("reaches a function as %s", async (_, parameters, expected) => {
    const tool = new FunctionTool({
      name: "pay",
      description: "Pays.",
      parameters: parameters ?? {},
      execute: (args) => {
        const q: unknown = Reflect.get(args, "q");
        return `${typeof q} ${typeof q === "bigint" ? q : JSON.stringify(q)}`;
      },
    });
    expect(await called(tool as FunctionTool, `{"q":${big}}`)).toBe(expected);
  });

  test("may be a bigint beside texts and numbers, which is an integer for the model", async () => {
    const tool = new FunctionTool({
      name: "pay",
      description: "Pays.",
      parameters: z.object({
        id: z.bigint(),
        text: z.string(),
        days: z.array(z.object({ n: z.bigint(), times: z.int() })),
      }),
      execute: (args) => args,
    });
    const n = { type: "integer" };
    expect(tool.schema.parameters).toMatchObject({
      properties: { id: n, days: { items: { properties: { n, times: n } } } },
    });
    expect(
      () =>
        new FunctionTool({
          name: "on",
          description: "",
          parameters: z.object({ at: z.date() }),
          execute: () => 0,
        }),
    ).toThrow("Date");
    expect(await called(tool, `{"id":"7","text":${big},"days":[{"n":8,"times":9}]}`)).toBe(
      `{"id":7,"text":"${big}","days":[{"n":8,"times":9}]}`,
    );
    expect(await called(tool, `{"id":1.5,"text":"","days":[]}`)).toMatch(/pay: id: .*BigInt/);
  });

  test("may be a function's bigint, which is an integer for the model", async () => {
    const tool = new FunctionTool({
      name: "count",
      description: "Counts.",
      parameters: z.object({}),
      execute: () => ({ n: 9007199254740993n }),
    });
    expect(await called(tool as FunctionTool, "{}")).toBe(`{"n":${big}}`);
  });
});
