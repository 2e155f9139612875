import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  Catalog,
  ComponentRegistry,
  coreComponents,
  FunctionTool,
  HttpTool,
  httpToolComponents,
  RoundRobinGroupChat,
  StaticWorkbench,
  TeamTool,
} from "troupe";
import type { AnyTool, JsonObject } from "troupe";
import { FUNCTION_TOOL } from "#core/tools/function/function-tool.ts";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
  type ScriptedRequest,
} from "#testing/scripted-chat-completion-client.ts";
import { TestAgent } from "../../support/agents.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";

/** A tool of a class of the program, which checks no names. It says where it is. */
function toolAt(place: string, name: string, calls: string[] = []): AnyTool {
  const description = `The tool at ${place}.`;
  return {
    definition: FUNCTION_TOOL,
    name,
    description,
    schema: { name, description, parameters: { type: "object", properties: {} } },
    policy: "never",
    run: () => {
      calls.push(place);
      return Promise.resolve(place);
    },
    valueAsText: String,
    toConfig: () => ({}),
  };
}

const LONG = "x".repeat(64);

/** A workbench as component JSON that was stored before names were checked. */
function storedWorkbench(tools: readonly AnyTool[]): StaticWorkbench {
  const catalog = new Catalog();
  for (const tool of tools) if (!catalog.tool(tool.name)) catalog.registerTool(tool);
  const registry = new ComponentRegistry().register(...coreComponents(catalog));
  const models = tools.map(({ name }) => ({ provider: "FunctionTool", config: { name } }));
  return registry.load({ provider: "StaticWorkbench", config: { tools: models } });
}

describe("tools with the same names", () => {
  const benches: readonly (readonly string[])[] = [
    ["search", "f g", `${LONG}_one`, "search"],
    ["search", "f_g", `${LONG}_two`, "transfer_to_bob", "专家", "世界"],
    ["search", "search_2"],
  ];
  /** What the model is offered, and what runs. `search` of the first workbench is listed twice there and is one tool. */
  const expected: Readonly<Record<string, string>> = {
    search: "0: search",
    f_g_2: "0: f g",
    [LONG]: `0: ${LONG}_one`,
    search_3: "1: search",
    f_g: "1: f_g",
    [`${LONG.slice(2)}_2`]: `1: ${LONG}_two`,
    transfer_to_bob_2: "1: transfer_to_bob",
    __: "1: 专家",
    ___2: "1: 世界",
    search_4: "2: search",
    search_2: "2: search_2",
  };
  const offered = Object.keys(expected);

  /** A new agent, as after a restart, with the tools that were called. */
  function agentWith(called: readonly string[]) {
    const calls: string[] = [];
    const asked = called.map((name, index) => ({ id: String(index), name, arguments: "{}" }));
    const reply = ({ messages }: ScriptedRequest): ScriptedReply =>
      messages.some(({ type }) => type === "FunctionExecutionResultMessage") ? "done" : asked;
    const model = new ScriptedChatCompletionClient([reply, reply]);
    const agent = new AssistantAgent({
      name: "alice",
      modelClient: model,
      maxToolIterations: 2,
      handoffs: ["bob"],
      workbench: benches.map((names, place) => {
        const tools = names.map((name) => toolAt(`${place}: ${name}`, name, calls));
        return storedWorkbench(tools);
      }),
    });
    return { agent, model, calls };
  }

  test("are offered under names of their own, and calls come back to the right one", async () => {
    const { agent, model, calls } = agentWith(offered);
    const { result } = await outcome(agent.onMessagesStream([], new RecordingHost().attempt()));
    const tools = model.requests[0]?.options.tools ?? [];
    expect(tools.map(({ name }) => name)).toEqual([...offered, "transfer_to_bob"]);
    expect(tools.map(({ description }) => description)).toEqual([
      ...Object.values(expected).map((place) => `The tool at ${place}.`),
      "Handoff to bob.",
    ]);
    expect(calls.toSorted()).toEqual(Object.values(expected).toSorted());
    const executed = result?.innerMessages?.find(({ type }) => type === "ToolCallExecutionEvent");
    expect(executed).toMatchObject({
      content: offered.map((name, index) => ({
        name,
        content: expected[name],
        call_id: String(index),
        is_error: false,
      })),
    });
  });

  test("are found by their own names, too, if no other tool is offered under them", async () => {
    const { agent, calls } = agentWith(["f g", `${LONG}_two`, "世界"]);
    await outcome(agent.onMessagesStream([], new RecordingHost().attempt()));
    expect(calls.toSorted()).toEqual(["0: f g", `1: ${LONG}_two`, "1: 世界"].toSorted());
  });

  test("are the same tools after a restart in the midst of the calls", async () => {
    const journal = new RecordingHost();
    const before = agentWith(offered);
    const cut = await outcome(
      before.agent.onMessagesStream([], journal.attempt({ afterSteps: 5 })),
    );
    expect(cut.result).toBeUndefined();
    const after = agentWith(offered);
    const { result } = await outcome(after.agent.onMessagesStream([], journal.attempt()));
    expect(result?.chatMessage).toMatchObject({ content: "done" });
    const places = Object.values(expected);
    expect([...before.calls, ...after.calls].toSorted()).toEqual(places.toSorted());
  });
});

describe("a name that makers of models refuse", () => {
  const catalog = new Catalog();
  catalog.registerTool(toolAt("f g", "f g"));
  const registry = new ComponentRegistry().register(
    ...coreComponents(catalog),
    ...httpToolComponents(),
  );
  const team = new RoundRobinGroupChat([new TestAgent("a")]);
  const parameters: JsonObject = { type: "object", properties: {} };
  const http = { host: "example.com", json_schema: parameters };

  test.each<[name: string, make: (name: string) => object, config?: (name: string) => JsonObject]>([
    [
      "FunctionTool",
      (name) => new FunctionTool({ name, description: "", parameters, execute: () => 1 }),
      (name) => ({ name }),
    ],
    [
      "HttpTool",
      (name) => new HttpTool({ name, host: "example.com", jsonSchema: parameters }),
      (name) => ({ ...http, name }),
    ],
    ["TeamTool", (name) => new TeamTool(team, { name, description: "" })],
  ])("is refused in a new %s, and loaded in a stored one", (provider, make, config) => {
    const issue = { path: "name", message: expect.stringMatching(/^must be .*: write "f_g"$/) };
    expect(() => make("f g")).toThrow(expect.objectContaining({ issues: [issue] }));
    for (const name of ["", "a.b", "専", LONG + "x"]) {
      expect(() => make(name)).toThrow(`Invalid ${provider}: name: must be`);
    }
    expect(() => make(LONG)).not.toThrow();
    if (config === undefined) return;
    const stored = { provider, config: config("f g") };
    const inConfig = { ...issue, path: "component.config.name" };
    expect(registry.validate(stored)).toEqual([inConfig]);
    expect(registry.notes(stored)).toContainEqual(inConfig);
    expect(registry.load<AnyTool>(stored).name).toBe("f g");
  });

  test("is refused in an override of a new workbench, and so is a name twice", () => {
    const tool = (name: string) => ({ provider: "HttpTool", config: { ...http, name } });
    const stored = {
      provider: "StaticWorkbench",
      config: {
        tools: [tool("a"), tool("b"), tool("a")],
        tool_overrides: { b: { name: "b c" }, a: { name: "" } },
      },
    };
    expect(registry.validate(stored)).toEqual([
      {
        path: "component.config.tools[2]",
        message: 'has the name of tools[0], "a": give it another name',
      },
      {
        path: "component.config.tool_overrides.b.name",
        message: expect.stringContaining('write "b_c"'),
      },
    ]);
    expect(registry.notes(stored)).toHaveLength(2);
    const a = toolAt("a", "a");
    expect(() => new StaticWorkbench([a, a])).toThrow(
      /tools\[1\]: has the name of tools\[0\], "a"/,
    );
    expect(() => new StaticWorkbench([a], { toolOverrides: { a: { name: "b c" } } })).toThrow(
      /tool_overrides\.a\.name: must be/,
    );
  });

  test("gets a note if it is the name of an agent, which the agent keeps", () => {
    const model_client = {
      provider: "ReplayChatCompletionClient",
      config: { chat_completions: [] },
    };
    const notes = (name: string) =>
      registry.notes({
        provider: "AgentTool",
        config: { agent: { provider: "AssistantAgent", config: { name, model_client } } },
      });
    expect(notes("expert")).toEqual([]);
    expect(notes("专家")).toEqual([
      { path: "component.config.agent", message: expect.stringContaining('call it "__"') },
    ]);
  });
});
