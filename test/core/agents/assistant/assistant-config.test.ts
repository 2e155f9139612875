import { describe, expect, test } from "vitest";
import * as z from "zod";
import type { AssistantAgent, JsonObject } from "troupe";
import { Catalog, ComponentRegistry, FunctionTool, coreComponents, dumpComponent } from "troupe";

const catalog = new Catalog();
catalog.registerTool(
  new FunctionTool({
    name: "ping",
    description: "Says pong.",
    parameters: z.object({}),
    execute: () => "pong",
  }),
);
const registry = new ComponentRegistry().register(...coreComponents(catalog));

const component = (provider: string, config: JsonObject, version = 1) => ({
  provider,
  component_version: version,
  config,
});

const model = component("ReplayChatCompletionClient", {
  chat_completions: ["x"],
  model_info: { vision: false, function_calling: true, json_output: true, family: "unknown" },
});
const ping = component("FunctionTool", { name: "ping", description: "Plays." });
const bench = component("StaticStreamWorkbench", { tools: [ping], tool_overrides: {} });

const least = {
  name: "alice",
  model_client: model,
  description: "Helps.",
  reflect_on_tool_use: false,
  tool_call_summary_format: "{result}",
};

function load(config: JsonObject): AssistantAgent {
  return registry.load(component("AssistantAgent", config, 2), "agent");
}

const dumped = (config: JsonObject) => dumpComponent(load(config));

describe("an assistant's component JSON", () => {
  test("names the omitted fields", () => {
    expect(dumped(least)).toMatchObject({
      provider: "autogen_agentchat.agents.AssistantAgent",
      version: 2,
      component_version: 2,
      config: {
        ...least,
        model_client: { config: model.config },
        workbench: [
          { provider: "autogen_core.tools.StaticStreamWorkbench", config: { tools: [] } },
        ],
        model_context: {
          provider: "autogen_core.model_context.UnboundedChatCompletionContext",
          config: {},
        },
        model_client_stream: false,
        max_tool_iterations: 1,
        metadata: {},
      },
    });
    expect(Object.keys(dumped(least).config)).not.toContain("system_message");
  });

  test("has its tools in a workbench, also when they came by the older key", () => {
    expect(dumped({ ...least, tools: [ping] }).config.workbench).toEqual(
      dumped({ ...least, workbench: [bench] }).config.workbench,
    );
  });

  test("may omit fields that AutoGen requires and that have one sensible value, and is dumped with them", () => {
    const { name, model_client } = least;
    expect(dumped({ name, model_client }).config).toMatchObject({
      description: "An agent that answers with the help of tools.",
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
    });
  });

  test("that has version 1 has one workbench, or tools", () => {
    const old = (config: JsonObject) =>
      registry.validate(component("AssistantAgent", { ...least, ...config }, 1));
    const known: JsonObject[] = [{ workbench: bench }, { tools: [ping] }, { workbench: null }, {}];
    for (const config of known) {
      expect(old(config)).toEqual([]);
    }
    const loaded = registry.load<AssistantAgent>(
      component("AssistantAgent", { ...least, workbench: bench }, 1),
    );
    expect(dumpComponent(loaded)).toEqual(dumped({ ...least, workbench: [bench] }));
    expect(old({ workbench: [bench] })).toEqual([
      {
        path: "component.component_version",
        message: expect.stringContaining("current version is 2"),
      },
    ]);
  });

  test("that has a summary which cannot be filled in is refused", () => {
    expect(
      registry.validate(
        component("AssistantAgent", { ...least, tool_call_summary_format: "{tool}: {result}" }, 2),
      ),
    ).toEqual([
      {
        path: "component.config.tool_call_summary_format",
        message: expect.stringContaining('there is no "tool", only {tool_name}'),
      },
    ]);
  });

  test("takes tools or workbenches, not both", () => {
    expect(() => load({ ...least, tools: [ping], workbench: [bench] })).toThrow(
      /either tools or workbenches/,
    );
  });

  test("takes a handoff as a plain name", () => {
    expect(dumped({ ...least, handoffs: ["Bob"] }).config.handoffs).toEqual([
      {
        target: "Bob",
        description: "Handoff to Bob.",
        name: "transfer_to_bob",
        message: "Transferred to Bob, adopting the role of Bob immediately.",
      },
    ]);
  });

  test("takes a handoff to a target that is not an identifier", () => {
    expect(dumped({ ...least, handoffs: [{ target: "the Boss" }] }).config.handoffs).toMatchObject([
      { target: "the Boss", name: "transfer_to_the boss" },
    ]);
    const dump = dumped({ ...least, handoffs: ["the Boss", "写手"] }).config;
    expect(dumped(dump).config.handoffs).toEqual(dump.handoffs);
  });

  test.each([
    [{ ...least, handoffs: [{ target: "x", name: "to x" }] }, "component.config.handoffs[0].name"],
    [{ ...least, max_tool_iterations: 0 }, "component.config.max_tool_iterations"],
    [{ ...least, model_client: bench }, "component.config.model_client"],
    [{ ...least, name: "two words" }, "component.config.name"],
    [
      {
        ...least,
        handoffs: ["b"],
        model_client: component("ReplayChatCompletionClient", { chat_completions: [] }),
      },
      "component.config.model_client",
    ],
    [
      { ...least, tools: [component("FunctionTool", { name: "rm", description: "" })] },
      "component.config.tools[0].config.name",
    ],
  ])("names the place of its fault: %#", (config, path) => {
    let issues: { path: string }[] = [];
    try {
      load(config);
    } catch (error) {
      ({ issues } = error as { issues: { path: string }[] });
    }
    expect(issues.map((issue) => issue.path)).toContainEqual(expect.stringContaining(path));
  });

  test("keeps the entries that memories learned in its state", async () => {
    const memory = component("ListMemory", {
      name: "notes",
      memory_contents: [{ content: "Likes tea.", mime_type: "text/plain" }],
    });
    const agent = load({ ...least, memory: [memory] });
    expect(agent.saveState()).toMatchObject({
      troupe: { parts: { "memory-0": { memory_contents: [{ content: "Likes tea." }] } } },
    });
    const forgetful = load({
      ...least,
      memory: [component("ListMemory", { memory_contents: [] })],
    });
    forgetful.loadState(agent.saveState());
    expect(forgetful.saveState()).toEqual(agent.saveState());
  });
});

describe("a MagenticOneCoderAgent in component JSON", () => {
  const provider = "autogen_ext.agents.magentic_one.MagenticOneCoderAgent";
  const { name, model_client } = least;

  test("is an assistant with the instructions of its dump, or with instructions of its own", () => {
    const dump = { ...least, description: "Codes.", system_message: "Write code." };
    const coder = dumpComponent(
      registry.load({ provider, component_version: 2, config: dump }, "agent"),
    );
    expect(coder).toMatchObject({
      provider: "autogen_agentchat.agents.AssistantAgent",
      config: { description: "Codes.", system_message: "Write code." },
    });
    const bare = dumpComponent(
      registry.load({ provider, config: { name, model_client } }, "agent"),
    );
    expect(bare.config).toMatchObject({
      description: expect.stringContaining("Python"),
      system_message: expect.stringContaining("`python` or `sh`"),
    });
  });
});
