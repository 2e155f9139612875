import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  AgentTool,
  AssistantAgent,
  Catalog,
  ComponentRegistry,
  FunctionTool,
  StaticStreamWorkbench,
  StaticWorkbench,
  coreComponents,
  dumpComponent,
  run,
  toText,
  withApproval,
} from "troupe";
import type { Answer, AnyTool, FunctionCall, JsonObject, Question, TurnContext } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { resultText } from "#core/tools/tool-result.ts";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { speaker } from "../support/agents.ts";
import { outcome, RecordingHost } from "../support/recording-host.ts";

/** A tool that has an effect, and what it did. */
function remover() {
  const removed: string[] = [];
  const tool = new FunctionTool({
    name: "remove",
    description: "Removes a file.",
    parameters: z.object({ path: z.string() }),
    execute: ({ path }) => {
      removed.push(path);
      return `removed ${path}`;
    },
  });
  return { tool, removed };
}

const remove = (path: string, id = "c1"): FunctionCall => ({
  id,
  name: "remove",
  arguments: JSON.stringify({ path }),
});

/** An assistant whose model asks for these calls at once. */
function clerk(tools: AnyTool[], calls: FunctionCall[], name = "clerk"): AssistantAgent {
  const modelClient = new ScriptedChatCompletionClient([calls]);
  return new AssistantAgent({ name, modelClient, tools });
}

/** What the model of an assistant reads about a call, and what a human was asked. */
async function answered(tool: AnyTool, answer: Answer) {
  const asked: Question[] = [];
  const { messages } = await run(clerk([tool], [remove("/a")]), {
    task: "go",
    answer: (question) => {
      asked.push(question);
      return Promise.resolve(answer);
    },
  });
  return { asked, event: messages.find(({ type }) => type === "ToolCallExecutionEvent") };
}

describe("a tool under approval", () => {
  test("is called when a human approves it, and not before", async () => {
    const { tool, removed } = remover();
    const agent = clerk([withApproval(tool)], [remove("/a")]);
    const asked: Question[] = [];
    await run(agent, {
      task: "go",
      answer: (question) => {
        expect(removed).toEqual([]);
        asked.push(question);
        return Promise.resolve({ approved: true });
      },
    });
    expect(removed).toEqual(["/a"]);
    expect(asked).toEqual([
      {
        id: expect.any(String),
        kind: "approval",
        source: "clerk",
        prompt: '"clerk" wants to call the tool "remove".',
        toolCall: {
          name: "remove",
          arguments: { path: "/a" },
          callId: "c1",
          parameters: tool.schema.parameters,
        },
        timeoutSeconds: null,
      },
    ]);
  });

  test.each([
    ["with a reason", { reason: "it is mine" }, " Reason: it is mine"],
    ["without one", {}, ""],
  ])(
    "that is refused %s is not called, and the model reads the reason",
    async (_how, given, why) => {
      const { tool, removed } = remover();
      const { event } = await answered(withApproval(tool), { approved: false, ...given });
      expect(removed).toEqual([]);
      expect(event).toMatchObject({
        content: [
          { call_id: "c1", is_error: true, content: `The tool call was not approved.${why}` },
        ],
      });
    },
  );

  test("is called with the arguments that a human gives, and the model gets a note", async () => {
    const { tool, removed } = remover();
    const edited = { approved: true, arguments: { path: "/b" } };
    const { event } = await answered(withApproval(tool), edited);
    expect(removed).toEqual(["/b"]);
    const note = 'A human changed the arguments of this call to {"path":"/b"}.';
    expect(event).toMatchObject({
      content: [{ is_error: false, content: `${note}\nremoved /b` }],
    });
  });

  test("counts as unchanged if its own arguments are given back", async () => {
    const same = { approved: true, arguments: { path: "/a" } };
    const { event } = await answered(withApproval(remover().tool), same);
    expect(event).toMatchObject({ content: [{ content: "removed /a" }] });
  });

  test("checks a human's arguments like a model's", async () => {
    const { tool, removed } = remover();
    const wrong = { approved: true, arguments: { path: 7 } };
    const { event } = await answered(withApproval(tool), wrong);
    expect(removed).toEqual([]);
    expect(event).toMatchObject({
      content: [{ is_error: true, content: expect.stringMatching(/changed.*\n.*invalid arg/s) }],
    });
  });

  test("fails the run when the answer has another type", async () => {
    const { tool, removed } = remover();
    await expect(answered(withApproval(tool), { content: "yes" })).rejects.toThrow(/an approval/);
    expect(removed).toEqual([]);
  });

  test("shows the name that the model sees", async () => {
    const { tool } = remover();
    const bench = new StaticWorkbench([withApproval(tool)], {
      toolOverrides: { remove: { name: "delete" } },
    });
    const journal = new RecordingHost();
    const call = { ctx: journal.attempt(), callId: "c1", caller: "clerk" };
    await outcome(bench.callTool("delete", { path: "/a" }, call));
    expect(journal.questions[0]).toMatchObject({ toolCall: { name: "delete" } });
  });

  test("counts as refused after a time, if one is named", async () => {
    const { asked } = await answered(withApproval(remover().tool, { timeoutSeconds: 60 }), {
      approved: false,
    });
    expect(asked[0]).toMatchObject({ timeoutSeconds: 60 });
    expect(() => withApproval(remover().tool, { timeoutSeconds: 0 })).toThrow(/more than 0/);
  });

  test("asks in its own name if it is inside an agent that is a tool itself", async () => {
    const { tool, removed } = remover();
    const inner = clerk([withApproval(tool)], [remove("/a")], "inner");
    const ask = { id: "c1", name: "inner", arguments: '{"task": "go"}' };
    const asked: Question[] = [];
    await run(clerk([withApproval(new AgentTool(inner))], [ask], "boss"), {
      task: "go",
      answer: (question) => {
        asked.push(question);
        return Promise.resolve({ approved: true });
      },
    });
    expect(asked.map(({ source, toolCall }) => [source, toolCall?.name])).toEqual([
      ["boss", "inner"],
      ["inner", "remove"],
    ]);
    expect(removed).toEqual(["/a"]);
  });
});

describe("several calls at once", () => {
  /** Calls side by side, in one pass of a turn. */
  const pass = (bench: StaticWorkbench, name: string, all: JsonObject[], journal: RecordingHost) =>
    outcome(
      journal.attempt().all(
        all.map((args, index) => ({
          key: `tool:${index}`,
          run: (ctx: TurnContext) => bench.callTool(name, args, { ctx, callId: "c" }),
        })),
        { inTurn: true },
      ),
    );
  const approve = (journal: RecordingHost, index: number) =>
    journal.answers.set(journal.questions[index]?.id ?? "", { approved: true });

  test("are submitted for approval at once, and each is made when it is approved", async () => {
    const { tool, removed } = remover();
    const bench = new StaticWorkbench([withApproval(tool)]);
    const journal = new RecordingHost();
    const again = () => pass(bench, "remove", [{ path: "/a" }, { path: "/b" }], journal);
    expect((await again()).error).toMatchObject({ kind: "suspend" });
    expect(journal.questions.map(({ toolCall }) => toolCall?.arguments)).toEqual([
      { path: "/a" },
      { path: "/b" },
    ]);
    approve(journal, 1);
    expect((await again()).error).toMatchObject({ kind: "suspend" });
    expect(removed).toEqual(["/b"]);
    approve(journal, 0);
    const { result } = await again();
    expect(result?.map(resultText)).toEqual(["removed /a", "removed /b"]);
    expect(removed).toEqual(["/b", "/a"]);
    expect(new Set(journal.questions.map(({ id }) => id)).size).toBe(2);
  });

  test("are made in their order if the tool has a state", async () => {
    const heard: string[] = [];
    const journal = new RecordingHost();
    // A turn that runs again has new objects.
    const again = () => {
      const poet = speaker("poet", (messages) => {
        heard.push(...messages.map(toText));
        return "verse";
      });
      const bench = new StaticStreamWorkbench([withApproval(new AgentTool(poet))]);
      return pass(bench, "poet", [{ task: "one" }, { task: "two" }], journal);
    };
    await again();
    expect(journal.questions).toHaveLength(2);
    approve(journal, 1);
    expect((await again()).error).toMatchObject({ kind: "suspend" });
    expect(heard).toEqual([]);
    approve(journal, 0);
    expect((await again()).error).toBeUndefined();
    expect(heard).toEqual(["one", "two"]);
  });

  test("share one queue with calls of the same tool without approval", async () => {
    const events: string[] = [];
    const poet = speaker("poet", async ([task]) => {
      events.push(`${task && toText(task)} begins`);
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
      events.push("ends");
      return "verse";
    });
    const tool = new AgentTool(poet);
    const branches = [tool, withApproval(tool)].map((one, index) => ({
      key: `tool:${index}`,
      run: (ctx: TurnContext) =>
        new StaticWorkbench([one]).callTool("poet", { task: `${index}` }, { ctx, callId: "c" }),
    }));
    const host = new InMemoryHost({ answer: () => Promise.resolve({ approved: true }) });
    await outcome(TurnScope.root(host.turn(0)).all(branches));
    expect(events).toEqual(["0 begins", "ends", "1 begins", "ends"]);
  });
});

test("an approval counts for nothing else that is asked at the same place", async () => {
  const { tool, removed } = remover();
  const bench = new StaticWorkbench([withApproval(tool)]);
  const journal = new RecordingHost();
  const call = (path: string) =>
    outcome(bench.callTool("remove", { path }, { ctx: journal.attempt(), callId: "c" }));
  await call("/a");
  journal.answers.set(journal.questions[0]!.id, { approved: true });
  expect((await call("/b")).error).toMatchObject({ kind: "suspend" });
  expect(removed).toEqual([]);
  await call("/a");
  expect(removed).toEqual(["/a"]);
});

describe("component JSON with an approval", () => {
  const { tool } = remover();
  const catalog = new Catalog();
  catalog.registerTool(tool);
  const guarded = withApproval(
    new FunctionTool({ name: "pay", description: "Pays.", parameters: {}, execute: () => null }),
  );
  catalog.registerTool(guarded);
  const registry = new ComponentRegistry({ functions: catalog }).register(
    ...coreComponents(catalog),
  );
  const load = (config: JsonObject) =>
    registry.load<AnyTool>(
      { provider: "FunctionTool", config: { name: "remove", ...config } },
      "tool",
    );

  test("is loaded for any tool, and dumped unchanged", () => {
    const asking = { approval: "human", approval_timeout_seconds: 60 } as const;
    expect(load(asking).approval).toEqual({ timeoutSeconds: 60 });
    const { config } = dumpComponent(load(asking));
    expect(config).toMatchObject(asking);
    expect(dumpComponent(registry.load(dumpComponent(load(asking)))).config).toEqual(config);
    expect(dumpComponent(load({ approval: "human" })).config).toEqual({
      name: "remove",
      approval: "human",
    });
  });

  test("keeps the agent's memory for an agent as a tool", () => {
    const agent = clerk([], [], "inner");
    const dumped = dumpComponent(withApproval(new AgentTool(agent)));
    expect(dumped).toMatchObject({
      provider: "autogen_agentchat.tools.AgentTool",
      config: { approval: "human", return_value_as_last_message: false },
    });
    const bench = new StaticWorkbench([withApproval(new AgentTool(agent))]);
    expect(bench.saveState()).toMatchObject({ tools: { inner: { type: "AssistantAgentState" } } });
    expect(Object.keys(bench.stateParts().children ?? {})).toEqual(["inner"]);
  });

  test("does not remove it from a tool that was registered with it", () => {
    expect(load({ name: "pay" }).approval).toEqual({ timeoutSeconds: null });
  });

  test("asks no human if it is absent or null", () => {
    expect(load({}).approval).toBeUndefined();
    expect(load({ approval: null }).approval).toBeUndefined();
  });

  test.each<[JsonObject, string]>([
    [{ approval: "humans" }, "approval"],
    [{ approval: true }, "approval"],
    [{ approval: "human", approval_timeout_seconds: 0 }, "approval_timeout_seconds"],
    [{ approval_timeout_seconds: 60 }, "approval_timeout_seconds"],
  ])("that is %o is refused, and the field is named", (config, path) => {
    const model = { provider: "FunctionTool", config: { name: "remove", ...config } };
    expect(registry.validate(model, "tool").map((issue) => issue.path)).toEqual([
      `component.config.${path}`,
    ]);
  });

  test("is refused for an agent or a workbench, because no human would be asked", () => {
    const tools = [{ provider: "FunctionTool", config: { name: "remove" } }];
    const bench = { provider: "StaticWorkbench", config: { tools, approval: "human" } };
    expect(registry.validate(bench)).toMatchObject([{ path: "component.config.approval" }]);
    const open = { ...bench, config: { ...bench.config, approval: null } };
    expect(registry.validate(open)).toEqual([]);
  });

  test("is refused beside the config or where a workbench renames it, for the same reason", () => {
    const plain = { provider: "FunctionTool", config: { name: "remove" } };
    const bench = (config: object) => ({ provider: "StaticWorkbench", config });
    const beside = { tools: [{ ...plain, approval: "human" }] };
    expect(registry.validate(bench(beside))).toMatchObject([
      { path: "component.config.tools[0].approval" },
    ]);
    const shown = { tools: [plain], tool_overrides: { remove: { approval: "human" } } };
    expect(registry.validate(bench(shown))).toMatchObject([
      { path: "component.config.tool_overrides.remove.approval" },
    ]);
  });

  test("is part of the schema of every tool", () => {
    const schemas = registry
      .definitions()
      .filter(({ component_type }) => component_type === "tool");
    expect(schemas.length).toBeGreaterThan(2);
    for (const { config } of schemas) {
      expect(JSON.stringify(config)).toContain('"approval_timeout_seconds"');
    }
  });
});
