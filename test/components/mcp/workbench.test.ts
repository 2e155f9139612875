import { afterEach, describe, expect, test } from "vitest";
import { type JsonObject, mcpServerTools, McpWorkbench, toText, TurnSignal } from "troupe";
import { RecordingHost } from "../../core/support/recording-host.ts";
import { call, textsOf } from "./support/calls.ts";
import { McpServerProcess } from "./support/server-process.ts";
import { type Kind, TestMcpServer } from "./support/test-server.ts";

const open: McpWorkbench[] = [];
afterEach(async () => {
  for (const workbench of open.splice(0)) await workbench.close();
});

function workbenchOf(...given: ConstructorParameters<typeof McpWorkbench>): McpWorkbench {
  const workbench = new McpWorkbench(...given);
  open.push(workbench);
  return workbench;
}

describe.each(["modern", "sessions", "sse"] satisfies Kind[])("a %s server", (kind) => {
  test("lists its tools in a step, which a repeated turn does not make again", async () => {
    await using server = await TestMcpServer.start(kind);
    const host = new RecordingHost();
    const workbench = workbenchOf({ serverParams: server.params });
    const tools = await workbench.listTools({ ctx: host.attempt() });
    expect(tools.find(({ name }) => name === "echo")).toEqual({
      name: "echo",
      description: "Says the same.",
      parameters: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
        additionalProperties: false,
      },
      strict: false,
    });
    expect(server.tools.lists).toBe(1);
    expect(
      await workbenchOf({ serverParams: server.params }).listTools({ ctx: host.attempt() }),
    ).toEqual(tools);
    expect(server.tools.lists).toBe(1);
  });

  test("does not offer tools that are for its own pages to models", async () => {
    await using server = await TestMcpServer.start(kind);
    const inputSchema = { type: "object", properties: {} };
    const shown: [string, JsonObject?][] = [
      ["plain"],
      ["both", { ui: { resourceUri: "ui://shop/cart.html", visibility: ["model", "app"] } }],
      ["page", { ui: { visibility: ["app"] } }],
      ["nobody", { ui: { visibility: [] } }],
      ["odd", { ui: { visibility: "app" } }],
      ["other", { ui: { resourceUri: "ui://shop/cart.html" } }],
    ];
    server.tools.list = shown.map(([name, _meta]) => ({
      name,
      inputSchema,
      ...(_meta && { _meta }),
    }));
    const workbench = workbenchOf({ serverParams: server.params });
    const tools = await workbench.listTools({ ctx: new RecordingHost().attempt() });
    expect(tools.map(({ name }) => name)).toEqual(["plain", "both", "other"]);
    const adapters = await mcpServerTools(server.params);
    expect(adapters.map(({ name }) => name)).toEqual(["plain", "both", "other"]);
    const { result } = await call(workbench, "page");
    expect(textsOf(result)).toEqual(["Tool page not found."]);
    expect(server.tools.calls).toEqual([]);
  });

  test("is called under the step's key, over one connection", async () => {
    await using server = await TestMcpServer.start(kind);
    const workbench = workbenchOf({ serverParams: server.params });
    const first = await call(workbench, "echo", { text: "hi" });
    expect(first.result).toEqual({
      type: "ToolResult",
      name: "echo",
      result: [{ type: "TextResultContent", content: "echo: hi" }],
      is_error: false,
    });
    await call(workbench, "pay", { amount: 3 });
    expect(server.tools.calls.map(({ name, args }) => ({ name, args }))).toEqual([
      { name: "echo", args: { text: "hi" } },
      { name: "pay", args: { amount: 3 } },
    ]);
    expect(server.tools.calls[0]?.meta["troupe/idempotency-key"]).toBe("run/1/call");
    expect(server.sessions).toBe(kind === "modern" ? 0 : 1);
  });

  test("has results of all kinds", async () => {
    await using server = await TestMcpServer.start(kind);
    const { result } = await call(workbenchOf({ serverParams: server.params }), "kinds");
    const images = result.result.filter(({ type }) => type === "ImageResultContent");
    expect(images).toEqual(Array.from({ length: 3 }, () => result.result[1]));
    expect(textsOf(result)).toEqual([
      "a text",
      "[image]",
      "[Audio: audio/wav, 4 bytes]",
      '{"type":"resource","resource":{"uri":"note://1","mimeType":"text/plain","meta":null,"text":"hi"},"annotations":null,"meta":null}',
      "[Resource: two note://2] the second note",
      "[image]",
      "[Resource: plot://1, image/png, 70 bytes]",
      "[image]",
      "[Resource: zip://1, 4 bytes]",
    ]);
    const structured = await call(workbenchOf({ serverParams: server.params }), "structured");
    expect(textsOf(structured.result)).toEqual(['{"degrees":21}']);
  });

  test("returns errors as results", async () => {
    await using server = await TestMcpServer.start(kind);
    const workbench = workbenchOf({ serverParams: server.params });
    const failed = await call(workbench, "fail");
    expect([failed.result.is_error, textsOf(failed.result)]).toEqual([true, ["no such city"]]);
    const crashed = await call(workbench, "crash");
    expect(crashed.result.is_error).toBe(true);
    expect(textsOf(crashed.result)[0]).toContain("the handler broke");
    const unknown = await call(workbench, "nothing");
    expect(textsOf(unknown.result)).toEqual(["Tool nothing not found."]);
  });

  test("shows its progress while it works", async () => {
    await using server = await TestMcpServer.start(kind);
    const { items, result } = await call(workbenchOf({ serverParams: server.params }), "slow", {
      steps: 3,
    });
    expect(textsOf(result)).toEqual(["slow is done"]);
    expect(items.map(toText).join("")).toBe("[1/3] step 1\n[2/3] step 2\n[3/3] step 3\n");
    expect(items[0]).toMatchObject({ type: "ModelClientStreamingChunkEvent", source: "clerk" });
  });

  test("gets a notification when a call is cancelled", async () => {
    await using server = await TestMcpServer.start(kind);
    const host = new RecordingHost();
    const workbench = workbenchOf({ serverParams: server.params });
    const items = workbench.callTool(
      "slow",
      { steps: 100 },
      { ctx: host.attempt(), callId: "1", caller: "clerk" },
    );
    await items.next();
    host.cancel();
    const end = (async () => {
      while (!(await items.next()).done);
    })();
    await expect(end).rejects.toEqual(new TurnSignal("cancel"));
    await expect.poll(() => server.tools.calls[0]?.cancelled).toBe(true);
  });

  test("is read by tools if the workbench has them", async () => {
    await using server = await TestMcpServer.start(kind);
    const own = {
      name: "get_prompt",
      description: "The server's.",
      inputSchema: { type: "object" },
    };
    server.tools.list = [own];
    const without = workbenchOf({ serverParams: server.params });
    const workbench = workbenchOf({
      serverParams: server.params,
      toolsFor: ["resources", "prompts"],
      toolOverrides: { list_prompts: { name: "prompts" } },
    });
    const names = async (one: McpWorkbench): Promise<string[]> =>
      (await one.listTools({ ctx: new RecordingHost().attempt() })).map(({ name }) => name);
    expect(await names(without)).toEqual(["get_prompt"]);
    expect(await names(workbench)).toEqual([
      "get_prompt",
      "list_resources",
      "list_resource_templates",
      "read_resource",
      "prompts",
    ]);
    const listed = await call(workbench, "list_resources");
    expect(textsOf(listed.result)[0]).toContain('"uri":"note://1"');
    const read = await call(workbench, "read_resource", { uri: "note://1" });
    expect(textsOf(read.result)[0]).toContain('"text":"a note"');
    const prompts = await call(workbench, "prompts");
    expect(textsOf(prompts.result)[0]).toContain('"name":"greet"');
    // The server's own tool, which it does not have.
    const called = await call(workbench, "get_prompt", { name: "greet" });
    expect(called.result.is_error).toBe(true);
    const prompting = workbenchOf({ serverParams: server.params, toolsFor: ["prompts"] });
    server.tools.list = [];
    const greeting = await call(prompting, "get_prompt", {
      name: "greet",
      arguments: { who: "Ada" },
    });
    expect(textsOf(greeting.result)[0]).toContain("Greet Ada.");
    // The server does not know the method.
    const templates = await call(workbench, "list_resource_templates");
    expect(textsOf(templates.result)).toEqual(['{"resourceTemplates":[]}']);
  });

  test("is read from code", async () => {
    await using server = await TestMcpServer.start(kind);
    const workbench = workbenchOf({ serverParams: server.params });
    const ctx = new RecordingHost().attempt();
    expect(await workbench.listResources({ ctx: ctx.scope("1") })).toMatchObject({
      resources: [{ uri: "note://1", name: "one" }],
    });
    expect(await workbench.readResource("note://1", { ctx: ctx.scope("2") })).toMatchObject({
      contents: [{ text: "a note" }],
    });
    expect(await workbench.listPrompts({ ctx: ctx.scope("3") })).toMatchObject({
      prompts: [{ name: "greet" }],
    });
    const prompt = await workbench.getPrompt("greet", { who: "Ada" }, { ctx: ctx.scope("4") });
    expect(prompt).toMatchObject({ messages: [{ content: { text: "Greet Ada." } }] });
  });
});

describe("a session", () => {
  test("that the server has forgotten is opened again", async () => {
    await using server = await TestMcpServer.start("sessions");
    const workbench = workbenchOf({ serverParams: server.params });
    await call(workbench, "pay", { amount: 1 });
    server.forget();
    const { result } = await call(workbench, "pay", { amount: 2 });
    expect(textsOf(result)).toEqual(["paid 2"]);
    expect(server.tools.calls.map(({ args }) => args["amount"])).toEqual([1, 2]);
  });

  test("is ended with the workbench, unless its parameters say otherwise", async () => {
    await using server = await TestMcpServer.start("sessions");
    for (const terminateOnClose of [true, false]) {
      const workbench = new McpWorkbench({
        serverParams: { ...server.params, terminateOnClose } as never,
      });
      await call(workbench, "echo", { text: "hi" });
      await workbench.close();
    }
    expect(server.ended).toBe(1);
  });
});

test.each(["modern", "sessions"] satisfies Kind[])(
  "a %s server that is killed in the middle of a call gives an error to the model, and its successor answers the next call",
  async (kind) => {
    await using server = await McpServerProcess.start(kind);
    const workbench = workbenchOf({ serverParams: server.params });
    const items = workbench.callTool(
      "slow",
      { steps: 600 },
      { ctx: new RecordingHost().attempt(), callId: "1", caller: "clerk" },
    );
    await items.next();
    await server.kill();
    let next = await items.next();
    while (!next.done) next = await items.next();
    expect(next.value.is_error).toBe(true);
    expect(textsOf(next.value)[0]).toMatch(/may or may not have taken effect/);
    await server.start();
    const later = await call(workbench, "echo", { text: "again" });
    expect(textsOf(later.result)).toEqual(["echo: again"]);
  },
);
