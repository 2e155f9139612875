import { describe, expect, test } from "vitest";
import {
  AgentTool,
  AssistantAgent,
  MaxMessageTermination,
  RoundRobinGroupChat,
  SocietyOfMindAgent,
  StaticStreamWorkbench,
  StaticWorkbench,
  TeamTool,
  TurnSignal,
  run,
  runStream,
} from "troupe";
import type { AnyTool, Message } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { StateTree } from "#core/state/state-tree.ts";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { speaker, TestAgent } from "../../support/agents.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";

const task = (tool: string, what: string, id = "c1") => ({
  id,
  name: tool,
  arguments: JSON.stringify({ task: what }),
});

function assistant(name: string, replies: ScriptedReply[], tools: AnyTool[] = [], stream = false) {
  const modelClient = new ScriptedChatCompletionClient(replies);
  const agent = new AssistantAgent({
    name,
    description: `${name} works.`,
    systemMessage: null,
    modelClient,
    tools,
    modelClientStream: stream,
  });
  return { agent, modelClient };
}

const shown = (items: readonly Message[]) => items.map(({ type, source }) => `${source} ${type}`);

describe("an agent as a tool", () => {
  test("accepts a task under the agent's name and description", () => {
    const { agent } = assistant("poet", []);
    expect(new AgentTool(agent).schema).toEqual({
      name: "poet",
      description: "poet works.",
      strict: true,
      parameters: {
        type: "object",
        properties: { task: { title: "Task", type: "string" } },
        required: ["task"],
        additionalProperties: false,
      },
    });
  });

  test("learns with its owner of pauses and of the end", async () => {
    const told: string[] = [];
    const inner = new TestAgent("inner");
    inner.onPause = async () => void told.push("pause");
    inner.onResume = async () => void told.push("resume");
    inner.close = async () => void told.push("close");
    const team = new RoundRobinGroupChat([inner]);
    const crew = new TeamTool(team, { name: "crew", description: "Works." });
    const { agent: boss } = assistant("boss", [], [crew]);
    await boss.onPause();
    await boss.onResume();
    await boss.close();
    expect(told).toEqual(["pause", "resume", "close"]);
  });

  test("shows the agent's messages, and answers with the last one", async () => {
    const { agent: poet } = assistant("poet", ["Roses are red."], [], true);
    const { agent: boss } = assistant("boss", [[task("poet", "roses")]], [new AgentTool(poet)]);
    const items: Message[] = [];
    let result: readonly Message[] = [];
    for await (const item of runStream(boss, { task: "go", outputTaskMessages: false })) {
      if (item.type === "TaskResult") result = item.messages;
      else items.push(item);
    }
    expect(shown(items)).toEqual([
      "boss ToolCallRequestEvent",
      "user TextMessage",
      "poet ModelClientStreamingChunkEvent",
      "poet ModelClientStreamingChunkEvent",
      "poet ModelClientStreamingChunkEvent",
      "poet TextMessage",
      "boss ToolCallExecutionEvent",
      "boss ToolCallSummaryMessage",
    ]);
    expect(items.at(-1)).toMatchObject({ content: "poet: Roses are red." });
    expect(result).toEqual(items.filter(({ type }) => type !== "ModelClientStreamingChunkEvent"));
  });

  test("adds the agent's messages to the response, too, in the order of the calls", async () => {
    let release = (): void => {};
    const waiting = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = speaker("slow", async () => {
      await waiting;
      return "late";
    });
    const quick = speaker("quick", () => {
      release();
      return "soon";
    });
    const { agent: boss } = assistant(
      "boss",
      [[task("slow", "a"), task("quick", "b")]],
      [new AgentTool(slow), new AgentTool(quick)],
    );
    const { result } = await outcome(boss.onMessagesStream([], new RecordingHost().attempt()));
    expect(shown(result?.innerMessages ?? [])).toEqual([
      "boss ToolCallRequestEvent",
      "user TextMessage",
      "slow TextMessage",
      "user TextMessage",
      "quick TextMessage",
      "boss ToolCallExecutionEvent",
    ]);
  });

  test("gives only the answer in a workbench that does not stream", async () => {
    const { agent: poet } = assistant("poet", ["Roses are red."]);
    const bench = new StaticWorkbench([new AgentTool(poet)]);
    const call = { ctx: new RecordingHost().attempt(), callId: "c1" };
    const { items, result } = await outcome(bench.callTool("poet", { task: "x" }, call));
    expect(items).toEqual([]);
    expect(result).toMatchObject({ result: [{ content: "poet: Roses are red." }] });
  });

  test.each([
    [StaticStreamWorkbench, "writer: a draft\n\nmind: in short"],
    [StaticWorkbench, "mind: in short"],
  ])(
    "answers with the visible messages of an agent around a team in a %o",
    async (bench, content) => {
      const mind = new SocietyOfMindAgent({
        name: "mind",
        team: new RoundRobinGroupChat([assistant("writer", ["a draft"]).agent], { maxTurns: 1 }),
        modelClient: new ScriptedChatCompletionClient(["in short"]),
      });
      const call = { ctx: new RecordingHost().attempt(), callId: "c1" };
      const calling = new bench([new AgentTool(mind)]).callTool("mind", { task: "x" }, call);
      expect((await outcome(calling)).result).toMatchObject({ result: [{ content }] });
    },
  );

  test("turns a failure inside into an error result", async () => {
    const { agent: poet } = assistant("poet", [new Error("no ink")]);
    const { agent: boss } = assistant("boss", [[task("poet", "x")]], [new AgentTool(poet)]);
    const { messages } = await run(boss, { task: "go" });
    expect(messages.at(-1)).toMatchObject({ results: [{ is_error: true, content: "no ink" }] });
  });

  test("makes parallel calls one after the other, in the order of the calls", async () => {
    const { agent: poet, modelClient } = assistant("poet", ["one", "two", "three"]);
    const calls = ["a", "b", "c"].map((what) => task("poet", what));
    const { agent: boss } = assistant("boss", [calls], [new AgentTool(poet)]);
    const { messages } = await run(boss, { task: "go" });
    expect(messages.at(-1)).toMatchObject({ content: "poet: one\npoet: two\npoet: three" });
    expect(modelClient.requests[2]?.messages).toMatchObject(
      ["a", "one", "b", "two", "c"].map((content) => ({ content })),
    );
  });

  test.each([false, true])(
    "does not begin further calls when one is interrupted (in turn %s)",
    async (inTurn) => {
      const agent = new TestAgent("poet", () => {
        throw new TurnSignal("suspend");
      });
      const tool = new AgentTool(agent);
      const bench = new StaticStreamWorkbench([tool]);
      const branches = ["a", "b", "c"].map((key) => ({
        key,
        run: (ctx: Parameters<typeof bench.callTool>[2]["ctx"]) =>
          bench.callTool("poet", { task: key }, { ctx, callId: key }),
      }));
      const { error } = await outcome(new RecordingHost().attempt().all(branches, { inTurn }));
      expect(error).toMatchObject({ kind: "suspend" });
      expect(agent.heard).toEqual([["a"]]);
      const again = await outcome(new RecordingHost().attempt().all(branches.slice(1, 2)));
      expect(again.error).toMatchObject({ kind: "suspend" });
      expect(agent.heard).toEqual([["a"], ["b"]]);
    },
  );

  test("leaves the next run its turn after a cancelled call", async () => {
    const { signal } = new AbortController();
    let fails = true;
    const poet = speaker("poet", () => {
      if (fails) throw new TurnSignal("halt");
      return "verse";
    });
    const bench = new StaticStreamWorkbench([new AgentTool(poet)]);
    const call = (number: number) => {
      const ctx = TurnScope.root(new InMemoryHost({ signal }).turn(number));
      return outcome(bench.callTool("poet", { task: "x" }, { ctx, callId: "c" }));
    };
    expect((await call(0)).error).toMatchObject({ kind: "halt" });
    fails = false;
    expect((await call(0)).result).toMatchObject({ is_error: false });
  });

  test("speaks after a different one in parallel, unless one has to wait", async () => {
    const { agent: poet } = assistant("poet", ["roses are red"], [], true);
    const { agent: painter } = assistant("painter", ["violets are blue"], [], true);
    const { agent: boss } = assistant(
      "boss",
      [[task("painter", "a"), task("poet", "b")]],
      [new AgentTool(poet), new AgentTool(painter)],
    );
    const { items } = await outcome(boss.onMessagesStream([], new RecordingHost().attempt()));
    const sources = items.map(({ source }) => source);
    expect(sources).toEqual([
      "boss",
      "user",
      ...Array.from({ length: 4 }, () => "painter"),
      "user",
      ...Array.from({ length: 4 }, () => "poet"),
      "boss",
    ]);
  });

  test("has a memory that is saved with the agent that uses it, and that the host saves", async () => {
    const make = () => {
      const { agent: poet } = assistant("poet", ["Roses are red."]);
      return assistant("boss", [[task("poet", "x")]], [new AgentTool(poet)]).agent;
    };
    const boss = make();
    const tree = new StateTree(boss);
    await outcome(boss.onMessagesStream([], new RecordingHost().attempt()));
    expect(tree.changes().logs.map(({ path, items }) => [path, items.length])).toEqual([
      ["context/messages", 2],
      ["workbench-0/poet/agent/context/messages", 2],
    ]);
    const other = make();
    other.loadState(boss.saveState());
    expect(other.saveState()).toEqual(boss.saveState());
  });
});

describe("a team as a tool", () => {
  const desk = () =>
    new RoundRobinGroupChat(
      [assistant("writer", ["draft"]).agent, assistant("critic", ["looks good"]).agent],
      { terminationCondition: new MaxMessageTermination(3) },
    );

  test("has its whole run in the call after one that failed", async () => {
    let ill = true;
    const critic = speaker("critic", () => {
      if (ill) throw new Error("the critic is ill");
      return "looks good";
    });
    const team = new RoundRobinGroupChat([new TestAgent("writer"), critic], {
      terminationCondition: new MaxMessageTermination(3),
    });
    const tool = new TeamTool(team, { name: "desk", description: "Writes." });
    const bench = new StaticStreamWorkbench([tool]);
    const call = (number: number) => {
      const ctx = TurnScope.root(new InMemoryHost({}).turn(number));
      return outcome(bench.callTool("desk", { task: "write" }, { ctx, callId: "c" }));
    };
    expect((await call(0)).result).toMatchObject({ is_error: true });
    ill = false;
    const { items } = await call(1);
    expect(items.map(({ source }) => source)).toEqual(["user", "writer", "critic"]);
  });

  test("answers with all that was said", async () => {
    const tool = new TeamTool(desk(), { name: "desk", description: "Writes." });
    const { agent: boss } = assistant("boss", [[task("desk", "write")]], [tool]);
    const { messages } = await run(boss, { task: "go" });
    expect(messages.at(-1)).toMatchObject({ content: "writer: draft\n\ncritic: looks good" });
  });

  test("may answer with the last message", async () => {
    const tool = new TeamTool(desk(), {
      name: "desk",
      description: "Writes.",
      returnValueAsLastMessage: true,
    });
    const { agent: boss } = assistant("boss", [[task("desk", "write")]], [tool]);
    const { messages } = await run(boss, { task: "go" });
    expect(messages.at(-1)).toMatchObject({ content: "looks good" });
  });
});
