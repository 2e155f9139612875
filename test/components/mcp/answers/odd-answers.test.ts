import { afterEach, describe, expect, test } from "vitest";
import { type Json, type JsonObject, McpWorkbench, mcpServerTools } from "troupe";
import { RecordingHost } from "../../../core/support/recording-host.ts";
import type { EchoServer } from "../../../support/echo-server.ts";
import { call, textsOf } from "../support/calls.ts";
import { RESULTS } from "../support/odd-results.ts";
import { onlyA, parameters, TOOLS } from "../support/odd-tools.ts";
import { rawServer, type RawServerOptions } from "../support/raw-server.ts";

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

async function workbenchFor(
  answers: Parameters<typeof rawServer>[0],
  options: RawServerOptions = {},
  more: { toolsFor?: ("resources" | "prompts")[] } = {},
): Promise<McpWorkbench> {
  const server: EchoServer = await rawServer(answers, options);
  const serverParams = {
    type: "StreamableHttpServerParams" as const,
    url: `http://127.0.0.1:${server.port}/mcp`,
    timeout: 5,
    sseReadTimeout: 5,
  };
  const workbench = new McpWorkbench({ serverParams, ...more });
  open.push(
    () => server[Symbol.asyncDispose](),
    () => workbench.close(),
  );
  return workbench;
}

const GOOD = {
  name: "good",
  inputSchema: { type: "object", properties: { q: { type: "string" } } },
};

describe.each([
  { modern: false, events: false },
  { modern: false, events: true },
  { modern: true, events: false },
  { modern: true, events: true, unended: true },
])("a list of %o", (options) => {
  test("has each usable tool, and the run has a note about the others", async () => {
    const tools = [
      null,
      ...TOOLS.map(([, entry], index) => ({ name: `t${index}`, ...entry })),
      "tool",
      GOOD,
    ];
    const workbench = await workbenchFor(
      (method) => (method === "tools/list" ? { tools, nextCursor: null } : undefined),
      options,
    );
    const host = new RecordingHost();
    const listed = await workbench.listTools({ ctx: host.attempt() });
    const shown = new Map(listed.map((tool) => [tool.name, tool.parameters]));
    for (const [index, [what, , wanted]] of TOOLS.entries()) {
      expect([what, shown.get(`t${index}`) ?? null]).toEqual([what, wanted]);
    }
    expect(shown.get("good")).toEqual(parameters({ properties: { q: { type: "string" } } }));
    const left = TOOLS.filter(([, , wanted]) => wanted === null).length + 2;
    expect(host.notes).toHaveLength(1);
    expect(host.notes[0]).toContain("tool 1 is not an object");
    const unclear = TOOLS.findIndex(([what]) => what === "a text as schema");
    expect(host.notes[0]).toContain(`tool "t${unclear}" has an inputSchema that is not the schema`);
    expect(host.notes[0]?.split(", ")).toHaveLength(left);
  });

  test.each<[string, Json, string[]]>([
    ["null for tools", { tools: null }, []],
    [
      "an object with the tools by their names",
      { tools: { good: { inputSchema: null } } },
      ["good"],
    ],
    ["no object around the tools", [GOOD], ["good"]],
    ["an empty cursor", { tools: [GOOD], nextCursor: "" }, ["good"]],
    ["a cursor that comes again", { tools: [GOOD], nextCursor: "same" }, ["good"]],
    ["fields of other types", { tools: [GOOD], _meta: null, ttlMs: "5", cacheScope: 1 }, ["good"]],
  ])("may have %s", async (_, result, names) => {
    const workbench = await workbenchFor(
      (method) => (method === "tools/list" ? result : undefined),
      options,
    );
    const listed = await workbench.listTools({ ctx: new RecordingHost().attempt() });
    expect(listed.map(({ name }) => name)).toEqual(names);
  });

  test("is read in the same way for resources, templates and prompts", async () => {
    const answers: { [method: string]: Json } = {
      "tools/list": { tools: [] },
      "resources/list": {
        resources: [{ uri: "a://1", name: null, size: "5", annotations: [] }, { name: "lost" }],
        nextCursor: null,
      },
      "resources/templates/list": { resourceTemplates: [{ uriTemplate: "a://{id}" }, 5] },
      "prompts/list": { prompts: [{ name: "p", arguments: [{ name: "x" }, {}] }, { name: 7 }] },
      "resources/read": {
        contents: [{ uri: "a://1", text: "hi", blob: null }, { uri: "a://2" }, null],
      },
      "prompts/get": {
        messages: [
          { role: "user", content: "one" },
          { role: "system", content: [{ text: "two" }] },
        ],
      },
    };
    const workbench = await workbenchFor((method) => answers[method], options, {
      toolsFor: ["resources", "prompts"],
    });
    const host = new RecordingHost();
    const ctx = host.attempt();
    const scope = (name: string) => ({ ctx: ctx.scope(name) });
    expect(await workbench.listResources(scope("1"))).toMatchObject({
      resources: [{ uri: "a://1", name: "a://1" }],
    });
    expect(await workbench.listResourceTemplates(scope("2"))).toMatchObject({
      resourceTemplates: [{ uriTemplate: "a://{id}", name: "a://{id}" }],
    });
    expect(await workbench.listPrompts(scope("3"))).toMatchObject({
      prompts: [{ name: "p", arguments: [{ name: "x" }] }],
    });
    expect(host.notes.join("\n")).toMatch(
      /resource "lost" has no uri[^]*resource template 2 is not an object[^]*prompt 2 has no name/,
    );
    const listed = await call(workbench, "list_resources");
    expect(textsOf(listed.result)[1]).toContain('resource "lost" has no uri');
    const read = await call(workbench, "read_resource", { uri: "a://1" });
    expect(textsOf(read.result).join("\n")).toMatch(/"hi"[^]*Damaged resource[^]*a:\/\/2/);
    const prompt = await call(workbench, "get_prompt", { name: "p" });
    expect(textsOf(prompt.result)[0]).toMatch(/"one"[^]*"two"/);
  });
});

test.each([
  { modern: false, events: true },
  { modern: true, events: false },
])("the result of a call is read part by part: %o", async (options) => {
  let calls = 0;
  let given: Json = null;
  const workbench = await workbenchFor((method) => {
    if (method === "tools/list") return { tools: [{ ...GOOD, outputSchema: { type: "string" } }] };
    if (method !== "tools/call") return undefined;
    calls++;
    return given;
  }, options);
  for (const [what, result, texts, isError = false] of RESULTS) {
    given = result;
    const read = (await call(workbench, "good", { q: "x" })).result;
    const said = textsOf(read);
    expect([what, said.length, read.is_error]).toEqual([what, texts.length, isError]);
    for (const [index, text] of texts.entries()) {
      if (typeof text === "string") expect([what, said[index]]).toEqual([what, text]);
      else expect(said[index], what).toMatch(text);
    }
  }
  expect(calls).toBe(RESULTS.length);
});

describe("a message of a server", () => {
  const ANSWER = '"result":{"content":[{"type":"text","text":"RESULT"}]}';
  test.each<[string, string, string]>([
    ["with null as error", `{"jsonrpc":"2.0","id":$id,${ANSWER},"error":null}`, "RESULT"],
    ["without a version", `{"id":$id,${ANSWER}}`, "RESULT"],
    ["with more fields", `{"jsonrpc":"2.0","id":$id,${ANSWER},"time":5}`, "RESULT"],
    ["with its id as text", `{"jsonrpc":"2.0","id":"$id",${ANSWER}}`, "RESULT"],
    ["without an id", `{"jsonrpc":"2.0",${ANSWER}}`, "RESULT"],
    ["in a list", `[{"jsonrpc":"2.0","id":$id,${ANSWER}}]`, "RESULT"],
    ["after a byte order mark", `\uFEFF{"jsonrpc":"2.0","id":$id,${ANSWER}}`, "RESULT"],
    [
      "with a number that JSON does not have",
      `{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":{"x":NaN,"y":"NaN"}}}`,
      '{"x":null,"y":"NaN"}',
    ],
    [
      "with an integer beyond 2^53 as structured content alone",
      `{"jsonrpc":"2.0","id":$id,"result":{"structuredContent":{"id":9007199254740993}}}`,
      '{"id":9007199254740993}',
    ],
    [
      "with an integer beyond 2^53 where none belongs",
      `{"jsonrpc":"2.0","id":$id,"result":{"content":[],"structuredContent":[9007199254740993],"x":9007199254740993}}`,
      "[9007199254740993]",
    ],
    ["with a text as error", `{"jsonrpc":"2.0","id":$id,"error":"broken"}`, "broken"],
    [
      "with words that are cut between two characters",
      `{"jsonrpc":"2.0","id":$id,"error":{"code":-32000,"message":"x${"🦉".repeat(1_500)}"}}`,
      `x${"🦉".repeat(999)}`,
    ],
    [
      "with a text as code",
      `{"jsonrpc":"2.0","id":$id,"result":null,"error":{"code":"E_BUSY","message":"Busy"}}`,
      'Busy ("E_BUSY")',
    ],
    [
      "with an error without words",
      `{"jsonrpc":"2.0","id":$id,"error":{"code":-3}}`,
      '{"code":-3}',
    ],
  ])("that is %s is accepted", async (_, raw, wanted) => {
    const answers: { [method: string]: Json } = {
      "tools/list": { tools: [GOOD] },
      "tools/call": { raw },
    };
    const workbench = await workbenchFor((method) => answers[method]);
    const { result } = await call(workbench, "good", { q: "x" });
    expect(textsOf(result)).toEqual([wanted]);
  });

  test.each<[string, JsonObject]>([
    ["nothing", {}],
    [
      "null for what it has",
      { protocolVersion: "2025-06-18", capabilities: null, serverInfo: null },
    ],
    [
      "lists for objects",
      { protocolVersion: "2025-06-18", capabilities: { tools: [], logging: null } },
    ],
    ["a number as version", { capabilities: { tools: {} }, serverInfo: { name: "x", version: 2 } }],
  ])("whose description of the server has %s is accepted", async (_, result) => {
    const workbench = await workbenchFor((method) => {
      if (method === "initialize") return result;
      return method === "tools/list" ? { tools: [GOOD] } : undefined;
    });
    const listed = await workbench.listTools({ ctx: new RecordingHost().attempt() });
    expect(listed.map(({ name }) => name)).toEqual(["good"]);
  });
});

test("a server that describes nothing and knows no list has no tools", async () => {
  const workbench = await workbenchFor((method) => (method === "initialize" ? {} : undefined));
  expect(await workbench.listTools({ ctx: new RecordingHost().attempt() })).toEqual([]);
});

test("a server that declares resources and knows no templates has no templates", async () => {
  const workbench = await workbenchFor((method) =>
    method === "resources/list" ? { resources: [] } : undefined,
  );
  const ctx = new RecordingHost().attempt();
  expect(await workbench.listResources({ ctx: ctx.scope("1") })).toEqual({ resources: [] });
  expect(await workbench.listResourceTemplates({ ctx: ctx.scope("2") })).toEqual({
    resourceTemplates: [],
  });
  await expect(workbench.listTools({ ctx: ctx.scope("3") })).rejects.toThrow("Method not found");
});

test("adapters of single tools have the mended schema, too", async () => {
  const server = await rawServer((method) =>
    method === "tools/list"
      ? {
          tools: [
            { name: "one", inputSchema: { anyOf: [{ properties: { a: { type: "string" } } }] } },
            null,
          ],
        }
      : undefined,
  );
  open.push(() => server[Symbol.asyncDispose]());
  const url = `http://127.0.0.1:${server.port}/mcp`;
  const tools = await mcpServerTools({ type: "StreamableHttpServerParams", url });
  expect(tools.map(({ schema }) => schema.parameters)).toEqual([onlyA]);
});
