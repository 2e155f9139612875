import { describe, expect, test } from "vitest";
import {
  RoundRobinGroupChat,
  SelectorGroupChat,
  Swarm,
  UserProxyAgent,
  createMessage,
  reset,
  run,
} from "troupe";
import type { HandoffMessage, Stateful } from "troupe";
import { migrateState } from "#core/state/migrate-state.ts";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { lines, speaker, TestAgent } from "../support/agents.ts";
import { type Edges, flow, managerState } from "./graph-flow/graphs.ts";

/** An agent that keeps nothing and hands over to the next. */
function clerk(name: string, target: string): TestAgent {
  return new (class extends TestAgent {
    override readonly producedMessageTypes = ["HandoffMessage"];
  })(name, async function* (_heard, ctx) {
    yield* [];
    const handoff = { type: "HandoffMessage", source: name, content: "yours", target, context: [] };
    const chatMessage = createMessage<HandoffMessage>(ctx, handoff as never);
    return { chatMessage, innerMessages: null };
  });
}

function silent(name: string): TestAgent {
  return speaker(name, () => name);
}

describe("a team that replaces another one", () => {
  test("keeps thread, members and order in memory", async () => {
    const members = (...names: string[]): TestAgent[] => names.map((name) => new TestAgent(name));
    const previous = new RoundRobinGroupChat(members("a", "b"), { maxTurns: 3 });
    await run(previous, { task: "go" });
    const next = new RoundRobinGroupChat(members("a", "b", "c"), { maxTurns: 3 });
    expect(migrateState(next, previous, new RoundRobinGroupChat(members("a", "b")))).toEqual([]);
    expect(next.conversation()).toEqual(previous.conversation());
    expect(lines((await run(next)).messages)).toEqual(["b: b2", "c: c1", "a: a3"]);
  });

  test("continues an edited graph if the new one has all nodes that were reached", async () => {
    const chain: Edges = { a: ["b"], b: ["c"], c: [] };
    const begun = async (maxTurns: number): Promise<Stateful> => {
      const team = flow(chain, { maxTurns });
      await run(team, { task: "go" });
      return team;
    };
    const ready = async (edges: Edges, maxTurns = 1): Promise<unknown> => {
      const next = flow(edges);
      expect(migrateState(next, await begun(maxTurns), flow(chain))).toEqual([]);
      return managerState(next)["ready"];
    };
    expect(await ready(chain)).toEqual(["b"]);
    expect(await ready({ a: ["b"], b: ["d"], c: [], d: [] })).toEqual(["b"]);
    // Nothing leads to b any more, so it cannot have become ready.
    expect(await ready({ a: ["c"], b: [], c: [] })).toEqual(["a", "b"]);
    // A graph that came to its end has come to nothing.
    expect(await ready({ x: ["a"], a: ["b"], b: ["c"], c: [] }, 3)).toEqual(["x"]);
  });

  test("starts a swarm over when the member whose turn it was has left", async () => {
    const blank = new Swarm([clerk("a", "b"), clerk("b", "c")]);
    for (const maxTurns of [1, 2]) {
      const previous = new Swarm([clerk("a", "b"), clerk("b", "c")], { maxTurns });
      await run(previous, { task: "go" });
      const next = new Swarm([clerk("a", "c"), clerk("c", "a")], { maxTurns: 1 });
      expect(migrateState(next, previous, blank)).toEqual([]);
      expect(lines((await run(next)).messages)).toEqual(["a: yours"]);
    }
  });

  test("keeps the usable part of the thread of another kind", async () => {
    const members = [clerk("a", "b"), clerk("b", "a")];
    const previous = new RoundRobinGroupChat(members, { maxTurns: 1 });
    await run(previous, { task: "go" });
    const swarm = new Swarm([clerk("a", "b"), clerk("b", "a")], { maxTurns: 1 });
    expect(migrateState(swarm, previous, new RoundRobinGroupChat(members))).toEqual([]);
    expect(lines((await run(swarm)).messages)).toEqual(["b: yours"]);

    const modelClient = new ScriptedChatCompletionClient([{ content: "b" }]);
    const selector = new SelectorGroupChat([silent("a"), silent("b")], {
      modelClient,
      maxTurns: 1,
    });
    expect(migrateState(selector, previous, new RoundRobinGroupChat(members))).toEqual([]);
    await run(selector);
    expect(JSON.stringify(modelClient.requests[0]?.messages)).toContain("a: yours");
  });

  test("forgets the last speaker of a selector that has left", async () => {
    const team = (names: readonly string[], answers: readonly string[]): SelectorGroupChat =>
      new SelectorGroupChat(names.map(silent), {
        modelClient: new ScriptedChatCompletionClient(answers.map((content) => ({ content }))),
        maxTurns: 1,
        maxSelectorAttempts: 1,
      });
    const previous = team(["a", "b"], ["b"]);
    await run(previous, { task: "go" });
    const stays = team(["b", "c"], []);
    expect(migrateState(stays, previous, team(["a", "b"], []))).toEqual([]);
    // Only one is left to choose from, so the model is not asked.
    expect(lines((await run(stays)).messages)).toEqual(["c: c"]);
    const left = team(["a", "c"], ["a"]);
    expect(migrateState(left, previous, team(["a", "b"], []))).toEqual([]);
    expect(lines((await run(left)).messages)).toEqual(["a: a"]);
  });

  test("loses nothing of a team that was reset", async () => {
    const previous = new RoundRobinGroupChat([new TestAgent("a")], { maxTurns: 1 });
    await run(previous, { task: "go" });
    const blank = new RoundRobinGroupChat([new TestAgent("a")]);
    const next = (): Stateful => new RoundRobinGroupChat([new UserProxyAgent({ name: "b" })]);
    expect(migrateState(next(), previous, blank)).toEqual([
      { path: "agent_states.a", message: "has no place in the component" },
    ]);
    await reset(previous);
    expect(migrateState(next(), previous, blank)).toEqual([]);
  });
});
