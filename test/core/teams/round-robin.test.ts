import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ExternalTermination,
  MaxMessageTermination,
  RoundRobinGroupChat,
  SourceMatchTermination,
  TextMentionTermination,
  TimeoutTermination,
  createMessage,
  reset,
  run,
  runStream,
} from "troupe";
import type { Message, ThoughtEvent } from "troupe";
import { InMemoryHost } from "#core/run/in-memory-host.ts";
import { TurnScope } from "#core/turn/turn-scope.ts";
import { firedCondition, lines, speaker, TestAgent, text } from "../support/agents.ts";
import { outcome } from "../support/recording-host.ts";

const pair = () => ({ ann: new TestAgent("ann"), bob: new TestAgent("bob") });

describe("a round-robin run", () => {
  test("repeats its order, and continues where it stopped", async () => {
    const { ann, bob } = pair();
    const team = new RoundRobinGroupChat([ann, bob], { maxTurns: 3 });
    const first = await run(team, { task: "go" });
    expect(lines(first.messages)).toEqual(["user: go", "ann: ann1", "bob: bob1", "ann: ann2"]);
    expect(first.stop_reason).toBe("Maximum number of turns 3 reached.");
    const second = await run(team);
    expect(lines(second.messages)).toEqual(["bob: bob2", "ann: ann3", "bob: bob3"]);
    expect(ann.heard).toEqual([["go"], ["bob1"], ["bob2"]]);
    expect(bob.heard).toEqual([["go", "ann1"], ["ann2"], ["ann3"]]);
  });

  test("checks conditions on the task and stops before an agent speaks", async () => {
    const { ann, bob } = pair();
    const team = new RoundRobinGroupChat([ann, bob], {
      terminationCondition: new TextMentionTermination("END"),
      maxTurns: 1,
    });
    const result = await run(team, { task: "END" });
    expect(lines(result.messages)).toEqual(["user: END"]);
    expect(result.stop_reason).toBe("Text 'END' mentioned");
    expect(ann.heard).toEqual([]);
    expect((await run(team, { task: "go" })).stop_reason).toBe(
      "Maximum number of turns 1 reached.",
    );
    expect(ann.heard).toEqual([["END", "go"]]);
  });

  test("does not start when its condition counts as fired", async () => {
    const { ann } = pair();
    const team = new RoundRobinGroupChat([ann], {
      terminationCondition: firedCondition(),
    });
    expect(await run(team, { task: "go" })).toEqual({
      type: "TaskResult",
      messages: [],
      stop_reason: "The group chat has already terminated.",
    });
  });

  test("keeps the task out of the stream if configured to, and still relays it", async () => {
    const { ann } = pair();
    const team = new RoundRobinGroupChat([ann], { maxTurns: 1 });
    const result = await run(team, { task: "go", outputTaskMessages: false });
    expect(lines(result.messages)).toEqual(["ann: ann1"]);
    expect(ann.heard).toEqual([["go"]]);
  });

  test("shows the speaker that the manager chooses if configured to", async () => {
    const { ann, bob } = pair();
    const team = new RoundRobinGroupChat([ann, bob], { maxTurns: 2, emitTeamEvents: true });
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "RoundRobinGroupChatManager: ['ann']",
      "ann: ann1",
      "RoundRobinGroupChatManager: ['bob']",
      "bob: bob1",
    ]);
  });

  test("counts events of an agent for conditions, and keeps them with the agent", async () => {
    const thinker = new TestAgent("thinker", async function* (_heard, ctx) {
      const thought = createMessage<ThoughtEvent>(ctx, {
        type: "ThoughtEvent",
        source: "thinker",
        content: "hm",
      });
      yield thought;
      return { chatMessage: text("thinker", "well", ctx), innerMessages: [thought] };
    });
    const bob = new TestAgent("bob");
    const team = new RoundRobinGroupChat([thinker, bob], {
      terminationCondition: new MaxMessageTermination(4, { includeAgentEvent: true }),
    });
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages)).toEqual(["user: go", "thinker: hm", "thinker: well", "bob: bob1"]);
    expect(bob.heard).toEqual([["go", "well"]]);
  });

  test("shows pieces of streamed text, which are not part of the result", async () => {
    const writer = new TestAgent("writer", async function* (_heard, ctx) {
      const message = text("writer", "hi", ctx);
      const piece: Message = {
        ...message,
        id: `${message.id}:0`,
        type: "ModelClientStreamingChunkEvent",
        full_message_id: message.id,
      };
      yield piece;
      return { chatMessage: message, innerMessages: [piece] };
    });
    const team = new RoundRobinGroupChat([writer], {
      terminationCondition: new MaxMessageTermination(3, { includeAgentEvent: true }),
      maxTurns: 1,
    });
    const items = [];
    for await (const item of runStream(team, { task: "go" })) items.push(item);
    expect(items.map((item) => item.type)).toEqual([
      "TextMessage",
      "ModelClientStreamingChunkEvent",
      "TextMessage",
      "TaskResult",
    ]);
    const result = items.at(-1);
    expect(result?.type === "TaskResult" && result.stop_reason).toBe(
      "Maximum number of turns 1 reached.",
    );
    expect(result?.type === "TaskResult" && lines(result.messages)).toEqual([
      "user: go",
      "writer: hi",
    ]);
  });
});

describe("a team in a team", () => {
  test("gets new messages, shares all of its own, and continues without new ones", async () => {
    const inner = new RoundRobinGroupChat([new TestAgent("in1"), new TestAgent("in2")], {
      name: "inner",
      maxTurns: 2,
    });
    const tail = new TestAgent("tail");
    const outer = new RoundRobinGroupChat([inner, tail], { maxTurns: 3 });
    const { messages } = await run(outer, { task: "go" });
    expect(lines(messages)).toEqual([
      "user: go",
      "in1: in11",
      "in2: in21",
      "tail: tail1",
      "in1: in12",
      "in2: in22",
    ]);
    expect(tail.heard).toEqual([["go", "in11", "in21"]]);

    const alone = new RoundRobinGroupChat([inner], { maxTurns: 2 });
    await reset(alone);
    expect(lines((await run(alone, { task: "go" })).messages)).toEqual([
      "user: go",
      "in1: in11",
      "in2: in21",
      "in1: in12",
      "in2: in22",
    ]);
  });

  test("counts its timeout from the start of its own run", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const slow = speaker("slow", (_heard, ctx) =>
      ctx.step("work", () => {
        vi.setSystemTime(Date.now() + 60_000);
        return Promise.resolve("done");
      }),
    );
    const inner = new RoundRobinGroupChat([new TestAgent("quick")], {
      name: "inner",
      terminationCondition: new TimeoutTermination(60),
      maxTurns: 1,
    });
    const outer = new RoundRobinGroupChat([slow, inner], {
      terminationCondition: new SourceMatchTermination(["quick"]),
      maxTurns: 2,
    });
    const { messages } = await run(outer, { task: "go" });
    expect(lines(messages)).toEqual(["user: go", "slow: done", "quick: quick1"]);
  });
});

test("an external switch ends the run after the turn in progress", async () => {
  const { ann, bob } = pair();
  const external = new ExternalTermination();
  const team = new RoundRobinGroupChat([ann, bob], {
    terminationCondition: external.or(new MaxMessageTermination(9)),
  });
  const seen: string[] = [];
  for await (const item of runStream(team, { task: "go" })) {
    if (item.type === "TaskResult") {
      expect(item.stop_reason).toBe("External termination requested");
    } else {
      seen.push(item.source);
      if (item.source === "bob") external.set();
    }
  }
  expect(seen).toEqual(["user", "ann", "bob"]);
});

test("a run asked to stop ends after the turn in progress, not inside of it", async () => {
  const inner = new RoundRobinGroupChat([new TestAgent("ann")], { name: "inner", maxTurns: 2 });
  const team = new RoundRobinGroupChat([inner]);
  const host = { ...new InMemoryHost({}).turn(1), stopRequested: true };
  const { items, result } = await outcome(team.turn(TurnScope.root(host)));
  expect(lines(items)).toEqual(["ann: ann1", "ann: ann2"]);
  expect(result).toMatchObject({ done: true, stopReason: "External termination requested" });
});

describe("a construction", () => {
  test.each([
    [[], {}, /at least one participant/],
    [[new TestAgent("a"), new TestAgent("a")], {}, /"a" is there twice/],
    [[new TestAgent("RoundRobinGroupChatManager")], {}, /name of the team's manager/],
    [[new TestAgent("a")], { maxTurns: 0 }, /max_turns must be greater than 0/],
  ])("refuses bad values", (participants, options, message) => {
    expect(() => new RoundRobinGroupChat(participants, options)).toThrow(message);
  });

  test("keeps its config, which is dumped as component JSON", () => {
    const team = new RoundRobinGroupChat([new TestAgent("a")], {
      terminationCondition: new MaxMessageTermination(2),
    });
    expect(team.toConfig()).toEqual({
      name: "RoundRobinGroupChat",
      description: "A team of agents.",
      participants: [
        {
          provider: "test.TestAgent",
          component_type: "agent",
          version: 1,
          component_version: 1,
          config: { name: "a" },
        },
      ],
      termination_condition: {
        provider: "autogen_agentchat.conditions.MaxMessageTermination",
        component_type: "termination",
        version: 1,
        component_version: 1,
        config: { max_messages: 2, include_agent_event: false },
      },
      emit_team_events: false,
    });
  });
});

test("pause, resume and close reach every participant, also of inner teams", async () => {
  const { ann, bob } = pair();
  const team = new RoundRobinGroupChat([ann, new RoundRobinGroupChat([bob], { name: "inner" })]);
  await team.onPause();
  await team.onResume();
  await team.close();
  expect([ann.calls, bob.calls]).toEqual([
    ["pause", "resume", "close"],
    ["pause", "resume", "close"],
  ]);
});

test("a reset starts over", async () => {
  const { ann, bob } = pair();
  const team = new RoundRobinGroupChat([ann, bob], {
    terminationCondition: new MaxMessageTermination(3),
  });
  const fresh = team.saveState();
  const first = await run(team, { task: "go", outputTaskMessages: false });
  await reset(team);
  expect(team.saveState()).toEqual(fresh);
  const again = await run(team, { task: "go", outputTaskMessages: false });
  expect(lines(again.messages)).toEqual(lines(first.messages));
  expect(ann.heard).toEqual([["go"], ["go"]]);
});
