import { describe, expect, test } from "vitest";
import type {
  ChatAgent,
  ChatCompletionClient,
  ChatMessage,
  HandoffMessage,
  JsonObject,
  MultiModalMessage,
  StructuredMessage,
  ToolCallSummaryMessage,
  TurnContext,
} from "troupe";
import {
  ChatCompletionCache,
  MagenticOneGroupChat,
  MaxMessageTermination,
  RoundRobinGroupChat,
  StateError,
  TaskError,
  TextMentionTermination,
  createMessage,
  reset,
  run,
  type MagenticOneGroupChatOptions,
} from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { lines, speaker, TestAgent } from "../../support/agents.ts";
import { ledger } from "../../support/ledger.ts";

type Options = Omit<MagenticOneGroupChatOptions, "modelClient">;

/** Prompts that say no more than needed, so that a conversation can be compared. */
const PROMPTS = {
  taskLedgerFacts: "facts about {task}?",
  taskLedgerPlan: "plan for {team}?",
  taskLedgerFull: "{task} / {facts} / {plan}",
  progressLedger: "ledger of {names}?",
  taskLedgerFactsUpdate: "more than {facts}?",
  taskLedgerPlanUpdate: "better than {plan}?",
};

/** A team of ann and bob, and the model that leads it. */
function crew(replies: readonly ScriptedReply[], options: Options = {}) {
  const model = new ScriptedChatCompletionClient(replies, { structuredOutput: false });
  const [ann, bob] = [new TestAgent("ann"), new TestAgent("bob")];
  return { model, ann, bob, team: lead([ann, bob], model, options) };
}

function lead(
  participants: readonly ChatAgent[],
  modelClient: ChatCompletionClient,
  options: Options = {},
): MagenticOneGroupChat {
  return new MagenticOneGroupChat(participants, {
    modelClient,
    orchestratorPrompts: PROMPTS,
    finalAnswerPrompt: "answer?",
    ...options,
  });
}

const done = (reason = "done"): string => ledger({ satisfied: true, reason });

/** What the model was asked, request by request. */
function asked(model: ScriptedChatCompletionClient): unknown[][] {
  return model.requests.map(({ messages }) => messages.map(({ content }) => content));
}

function managerState(team: MagenticOneGroupChat): JsonObject {
  const { agent_states } = team.saveState() as { agent_states: { [name: string]: JsonObject } };
  return agent_states["MagenticOneOrchestrator"] ?? {};
}

describe("a task", () => {
  test("is planned, worked on and answered", async () => {
    const { model, ann, bob, team } = crew([
      "f",
      "p",
      ledger({ say: "dig" }),
      ledger({ speaker: "bob", say: "carry" }),
      done("the hole is there"),
      "A hole.",
    ]);
    const result = await run(team, { task: "a hole" });
    expect(lines(result.messages)).toEqual([
      "user: a hole",
      "MagenticOneOrchestrator: a hole / f / p",
      "MagenticOneOrchestrator: dig",
      "ann: ann1",
      "MagenticOneOrchestrator: carry",
      "bob: bob1",
      "MagenticOneOrchestrator: A hole.",
    ]);
    expect(result.stop_reason).toBe("the hole is there");
    expect(ann.heard).toEqual([["a hole / f / p", "dig"]]);
    expect(bob.heard).toEqual([["a hole / f / p", "dig", "ann1", "carry"]]);
    const roles = "ann: ann is made for a test.\nbob: bob is made for a test.";
    expect(asked(model)).toEqual([
      ["facts about a hole?"],
      ["facts about a hole?", "f", `plan for ${roles}?`],
      ["a hole / f / p", "ledger of ann, bob?"],
      ["a hole / f / p", "dig", "ann1", "ledger of ann, bob?"],
      ["a hole / f / p", "dig", "ann1", "carry", "bob1", "ledger of ann, bob?"],
      ["a hole / f / p", "dig", "ann1", "carry", "bob1", "answer?"],
    ]);
    expect(model.requests[5]?.messages.map(({ type }) => type)).toEqual([
      "AssistantMessage",
      "AssistantMessage",
      "UserMessage",
      "AssistantMessage",
      "UserMessage",
      "UserMessage",
    ]);
    model.assertDone();
  });

  test("may have several messages, and can be kept out of the stream", async () => {
    const { team } = crew(["f", "p", done(), "x"]);
    const task = [
      { type: "TextMessage", source: "user", content: "one" },
      { type: "TextMessage", source: "boss", content: "two" },
    ] as const;
    const { messages } = await run(team, { task, outputTaskMessages: false });
    expect(lines(messages)).toEqual([
      "MagenticOneOrchestrator: one two / f / p",
      "MagenticOneOrchestrator: x",
    ]);
  });

  test("is required for every run", async () => {
    const { team } = crew(["f", "p", done(), "x"]);
    await expect(run(team)).rejects.toThrow(TaskError);
    await run(team, { task: "go" });
    await expect(run(team, { task: null })).rejects.toThrow(/each run needs a task/);
  });

  test("is not required to continue interrupted work", async () => {
    const replies = ["f", "p", ledger(), ledger(), done("at last"), "x"];
    const model = new ScriptedChatCompletionClient(replies);
    let ill = true;
    const ann = speaker("ann", () => {
      if (ill) throw new Error("ill");
      return Promise.resolve("well");
    });
    const team = lead([ann], model);
    await expect(run(team, { task: "go" })).rejects.toThrow("ill");
    ill = false;
    expect((await run(team, { task: null })).stop_reason).toBe("at last");
    model.assertDone();
    await expect(run(team, { task: null })).rejects.toThrow(TaskError);
  });

  test("is not required to continue after a condition has stopped the work", async () => {
    const { bob, team } = crew(["f", "p", ledger(), ledger({ speaker: "bob" }), done(), "x"], {
      terminationCondition: new TextMentionTermination("ann1"),
    });
    expect((await run(team, { task: "go" })).stop_reason).toContain("ann1");
    expect((await run(team, { task: null })).stop_reason).toBe("done");
    expect(bob.heard).toEqual([["go / f / p", "go on", "ann1", "go on"]]);
  });

  test("starts over for the participants, and rounds continue counting", async () => {
    const { model, ann, team } = crew([
      "f1",
      "p1",
      ledger(),
      done(),
      "x",
      "f2",
      "p2",
      ledger(),
      done(),
      "y",
    ]);
    await run(team, { task: "one" });
    expect(managerState(team)).toMatchObject({ n_rounds: 2, task: "one", facts: "f1" });
    await run(team, { task: "two" });
    expect(ann.heard[1]).toEqual(["two / f2 / p2", "go on"]);
    expect(ann.calls).toEqual(["reset", "reset"]);
    expect(asked(model)[5]).toEqual(["facts about two?"]);
    expect(managerState(team)).toMatchObject({ n_rounds: 4, task: "two", facts: "f2", plan: "p2" });
  });
});

describe("the progress ledger", () => {
  test.each<[Partial<ScriptedChatCompletionClient["modelInfo"]>, unknown]>([
    [{ structuredOutput: true }, { name: "LedgerEntry", schema: expect.anything() as unknown }],
    [{ structuredOutput: false, jsonOutput: true }, true],
    [{ structuredOutput: false, jsonOutput: false }, null],
  ])("is requested in the form that the model has: %j", async (info, jsonOutput) => {
    const model = new ScriptedChatCompletionClient(["f", "p", done(), "x"], info);
    await run(lead([new TestAgent("ann")], model), { task: "go" });
    expect(model.requests.map(({ options }) => options.jsonOutput ?? null)).toEqual([
      null,
      null,
      jsonOutput,
      null,
    ]);
  });

  test("is requested again, in the same words, until it can be followed", async () => {
    const bad = ["not yet", "{}", ledger({ speaker: "eve" }), ledger({ say: 7 })];
    const { model, team } = crew(["f", "p", ...bad, ledger({ speaker: "bob" }), done(), "x"]);
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages)).toContain("bob: bob1");
    const requests = asked(model).slice(2, 2 + bad.length + 1);
    for (const request of requests) expect(request).toEqual(requests[0]);
    expect(managerState(team)).toMatchObject({ n_rounds: 2 });
  });

  test("is not taken from a cache whose entry cannot be followed", async () => {
    const model = new ScriptedChatCompletionClient(["f", "p", "no", done(), "x"]);
    const cache = new ChatCompletionCache(model);
    const { stop_reason } = await run(lead([new TestAgent("ann")], cache), { task: "go" });
    expect(stop_reason).toBe("done");
    // What could be followed is what stays.
    const again = lead([new TestAgent("ann")], cache);
    expect((await run(again, { task: "go" })).stop_reason).toBe("done");
    model.assertDone();
  });

  test("ends the run after ten invalid attempts, and the team stays usable", async () => {
    const bad = Array.from({ length: 9 }, () => "no");
    const { model, team } = crew([
      "f",
      "p",
      ledger(),
      ...bad,
      ledger({ speaker: "eve" }),
      "f2",
      "p2",
      done(),
      "x",
    ]);
    await expect(run(team, { task: "go" })).rejects.toMatchObject({
      code: "ledger_unusable",
      message: expect.stringContaining(
        "in 10 attempts; the last: next_speaker.answer: must be one of ann, bob",
      ) as string,
    });
    expect(model.requests).toHaveLength(13);
    expect((await run(team, { task: "again" })).stop_reason).toBe("done");
  });

  test("leaves the only participant no choice", async () => {
    const model = new ScriptedChatCompletionClient([
      "f",
      "p",
      ledger({ speaker: "somebody", say: "you" }),
      done(),
      "x",
    ]);
    const ann = new TestAgent("ann");
    await run(lead([ann], model), { task: "go" });
    expect(ann.heard).toEqual([["go / f / p", "you"]]);
  });

  test("must not be an answer in tool calls", async () => {
    const { team } = crew(["f", "p", [{ id: "c", name: "f", arguments: "{}" }]]);
    await expect(run(team, { task: "go" })).rejects.toMatchObject({ code: "model_bad_response" });
  });
});

describe("stalls", () => {
  const stuck = ledger({ progress: false });
  const loop = ledger({ loop: true });

  test("go up and down, and at the limit the team plans again and forgets", async () => {
    const { model, ann, team } = crew(
      [
        "f1",
        "p1",
        stuck,
        ledger(),
        loop,
        stuck,
        "f2",
        "p2",
        ledger({ say: "afresh" }),
        done(),
        "x",
      ],
      { maxStalls: 2 },
    );
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages).slice(1)).toEqual([
      "MagenticOneOrchestrator: go / f1 / p1",
      "MagenticOneOrchestrator: go on",
      "ann: ann1",
      "MagenticOneOrchestrator: go on",
      "ann: ann2",
      "MagenticOneOrchestrator: go on",
      "ann: ann3",
      "MagenticOneOrchestrator: go / f2 / p2",
      "MagenticOneOrchestrator: afresh",
      "ann: ann1",
      "MagenticOneOrchestrator: x",
    ]);
    const before = ["go / f1 / p1", "go on", "ann1", "go on", "ann2", "go on", "ann3"];
    expect(asked(model).slice(6, 9)).toEqual([
      [...before, "more than f1?"],
      [...before, "more than f1?", "f2", "better than p1?"],
      ["go / f2 / p2", "ledger of ann, bob?"],
    ]);
    expect(ann.heard.at(-1)).toEqual(["go / f2 / p2", "afresh"]);
    expect(managerState(team)).toMatchObject({ n_stalls: 1, n_rounds: 6, facts: "f2", plan: "p2" });
    model.assertDone();
  });

  test("stay counted after a new plan: one more leads to another, until progress makes up for both", async () => {
    const { team } = crew(
      [
        "f1",
        "p1",
        stuck,
        "f2",
        "p2",
        stuck,
        "f3",
        "p3",
        ledger(),
        "f4",
        "p4",
        ledger(),
        done(),
        "x",
      ],
      { maxStalls: 1 },
    );
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages).slice(1)).toEqual([
      "MagenticOneOrchestrator: go / f1 / p1",
      "MagenticOneOrchestrator: go / f2 / p2",
      "MagenticOneOrchestrator: go / f3 / p3",
      "MagenticOneOrchestrator: go / f4 / p4",
      "MagenticOneOrchestrator: go on",
      "ann: ann1",
      "MagenticOneOrchestrator: x",
    ]);
  });

  test("that are older than the present task do not count", async () => {
    const { team } = crew(["f1", "p1", stuck, done(), "x", "f2", "p2", stuck, done(), "y"], {
      maxStalls: 2,
    });
    await run(team, { task: "one" });
    expect(managerState(team)).toMatchObject({ n_stalls: 1 });
    await run(team, { task: "two" });
    expect(managerState(team)).toMatchObject({ n_stalls: 1, facts: "f2" });
  });
});

describe("rounds", () => {
  test("that exceed the limit end with an answer from the present results", async () => {
    const { model, team } = crew(["f", "p", ledger(), ledger(), "as far as we got"], {
      maxTurns: 1,
    });
    const { messages, stop_reason } = await run(team, { task: "go" });
    expect(stop_reason).toBe("Max rounds reached.");
    expect(lines(messages).slice(-2)).toEqual([
      "ann: ann2",
      "MagenticOneOrchestrator: as far as we got",
    ]);
    expect(asked(model).at(-1)?.at(-1)).toBe("answer?");
    expect(managerState(team)).toMatchObject({ n_rounds: 2, current_turn: 0 });
  });

  test("are 20 by default, and unlimited on request", async () => {
    const rounds = Array.from({ length: 30 }, () => ledger());
    const { team } = crew(["f", "p", ...rounds.slice(0, 21), "x"]);
    expect((await run(team, { task: "go" })).stop_reason).toBe("Max rounds reached.");
    const free = crew(["f", "p", ...rounds, done("free"), "x"], { maxTurns: null });
    expect((await run(free.team, { task: "go" })).stop_reason).toBe("free");
  });

  test("start over after a reset", async () => {
    const { ann, team } = crew(
      ["f", "p", ledger(), ledger(), "x", "f", "p", ledger(), done("in time"), "y"],
      { maxTurns: 1 },
    );
    await run(team, { task: "go" });
    await reset(team);
    expect(managerState(team)).toEqual({
      type: "MagenticOneOrchestratorState",
      version: "1.0.0",
      message_thread: [],
      current_turn: 0,
      task: "",
      facts: "",
      plan: "",
      n_rounds: 0,
      n_stalls: 0,
      troupe: { next: "task" },
    });
    expect(ann.calls).toEqual(["reset", "reset"]);
    expect((await run(team, { task: "go" })).stop_reason).toBe("in time");
  });
});

test("both ledgers are visible, also those of a loaded state", async () => {
  const stuck = ledger({ progress: false, reason: "no spade", say: "dig" });
  const { team } = crew(["f", "p", stuck], {
    terminationCondition: new MaxMessageTermination(1),
  });
  expect(team.visibleState()).toEqual({
    task_ledger: { task: "", facts: "", plan: "" },
    progress_ledger: { rounds: 0, stalls: 0, next: "task", entry: null },
  });
  await run(team, { task: "go" });
  const { team: copy } = crew([]);
  copy.loadState(team.saveState());
  for (const shown of [team.visibleState(), copy.visibleState()]) {
    expect(shown).toMatchObject({
      task_ledger: { task: "go", facts: "f", plan: "p" },
      progress_ledger: {
        rounds: 1,
        stalls: 1,
        next: "work",
        entry: {
          is_progress_being_made: { answer: false, reason: "no spade" },
          instruction_or_question: { answer: "dig" },
        },
      },
    });
  }
});

describe("conditions", () => {
  test("see the messages of participants, not the task, the ledgers and the instructions", async () => {
    const { team } = crew(["STOP", "STOP", ledger({ say: "STOP" }), done("by itself"), "x"], {
      terminationCondition: new TextMentionTermination("STOP"),
    });
    expect((await run(team, { task: "STOP" })).stop_reason).toBe("by itself");
  });

  test("end the run without an answer; the next task is planned", async () => {
    const { team } = crew(
      ["f", "p", ledger(), ledger(), "f2", "p2", ledger(), done("through"), "x"],
      { terminationCondition: new MaxMessageTermination(2) },
    );
    const first = await run(team, { task: "go" });
    expect(first.stop_reason).toMatch(/^Maximum number of messages 2/);
    expect(lines(first.messages).at(-1)).toBe("ann: ann2");
    expect((await run(team, { task: "on" })).stop_reason).toBe("through");
  });

  test("that count start over when the orchestrator ends the run", async () => {
    const { team } = crew(
      ["f", "p", ledger(), done("one"), "x", "f", "p", ledger(), done("two"), "y"],
      { terminationCondition: new MaxMessageTermination(2) },
    );
    expect((await run(team, { task: "go" })).stop_reason).toBe("one");
    expect((await run(team, { task: "go" })).stop_reason).toBe("two");
  });
});

describe("a participant's message", () => {
  /** A team whose only participant answers with what `answer` makes; returns what the model is asked about it. */
  async function seen(answer: (ctx: TurnContext) => ChatMessage, vision = false): Promise<unknown> {
    const model = new ScriptedChatCompletionClient(["f", "p", ledger(), done(), "x"], { vision });
    // oxlint-disable-next-line require-yield
    const ann = new TestAgent("ann", async function* (_heard, ctx) {
      return { chatMessage: answer(ctx), innerMessages: null };
    });
    await run(lead([ann], model), { task: "go" });
    return model.requests[3]?.messages[2];
  }

  const said = (content: unknown) => ({ type: "UserMessage", source: "ann", content });
  const picture = {
    data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGM4IWcDAALUASNyYth2AAAAAElFTkSuQmCC",
  };
  const photo = (ctx: TurnContext) =>
    createMessage<MultiModalMessage>(ctx, {
      type: "MultiModalMessage",
      source: "ann",
      content: ["look", picture],
    });

  test("is shown with pictures to a model that sees", async () => {
    expect(await seen(photo, true)).toEqual(said(["look", picture]));
    expect(await seen(photo, false)).toEqual(said("look\n<image>"));
  });

  test("may be a handoff, a summary of tools or structured", async () => {
    const handoff = (ctx: TurnContext) =>
      createMessage<HandoffMessage>(ctx, {
        type: "HandoffMessage",
        source: "ann",
        target: "bob",
        content: "yours",
        context: [],
      });
    const summary = (ctx: TurnContext) =>
      createMessage<ToolCallSummaryMessage>(ctx, {
        type: "ToolCallSummaryMessage",
        source: "ann",
        content: "2",
        tool_calls: [],
        results: [],
      });
    const structured = (ctx: TurnContext) =>
      createMessage<StructuredMessage>(ctx, {
        type: "StructuredMessage[Sum]",
        source: "ann",
        content: { sum: 2 },
        format_string: null,
      });
    expect(await seen(handoff)).toEqual(said("yours"));
    expect(await seen(summary)).toEqual(said("2"));
    expect(await seen(structured)).toEqual(said('{"sum":2}'));
  });
});

describe("the state of Magentic-One", () => {
  test("that was saved after a stop in the middle loads into another team, which accepts the next task", async () => {
    const first = crew(["f", "p", ledger({ progress: false }), ledger()], {
      terminationCondition: new MaxMessageTermination(2),
    });
    await run(first.team, { task: "one" });
    const saved = first.team.saveState();
    const second = crew(["f2", "p2", ledger({ speaker: "bob" }), done("over there"), "x"]);
    second.team.loadState(saved);
    expect(second.team.saveState()).toMatchObject({
      agent_states: {
        MagenticOneOrchestrator: { task: "one", facts: "f", plan: "p", n_rounds: 2, n_stalls: 0 },
      },
    });
    expect((await run(second.team, { task: "two" })).stop_reason).toBe("over there");
    expect(second.bob.heard).toEqual([["two / f2 / p2", "go on"]]);
    expect(managerState(second.team)).toMatchObject({ n_rounds: 4 });
  });

  test("that AutoGen saved lacks Troupe's own parts", () => {
    const { team } = crew([]);
    const { troupe, ...autogens } = managerState(team);
    expect(troupe).toEqual({ next: "task" });
    const agent = (name: string) => [name, { agent_state: {}, message_buffer: [] }];
    team.loadState({
      agent_states: {
        ...(Object.fromEntries([agent("ann"), agent("bob")]) as JsonObject),
        MagenticOneOrchestrator: { ...autogens, task: "old", n_rounds: 7 },
      },
    });
    expect(managerState(team)).toMatchObject({ task: "old", n_rounds: 7 });
  });

  test.each<[JsonObject, RegExp]>([
    [{ n_rounds: -1 }, /n_rounds/],
    [{ n_stalls: "many" }, /n_stalls/],
    [{ task: 1 }, /task/],
    [{ facts: null }, /facts/],
    [{ troupe: { next: "later" } }, /troupe\.next/],
  ])("that does not fit changes nothing: %j", async (wrong, place) => {
    const { team } = crew(["f", "p", ledger(), done(), "x"]);
    await run(team, { task: "go" });
    const before = team.saveState() as { agent_states: { [name: string]: JsonObject } };
    const states = before.agent_states;
    const bad = { ...states["MagenticOneOrchestrator"], ...wrong };
    const load = () =>
      team.loadState({ ...before, agent_states: { ...states, MagenticOneOrchestrator: bad } });
    expect(load).toThrow(StateError);
    expect(load).toThrow(place);
    expect(team.saveState()).toEqual(before);
  });
});

describe("a Magentic-One team", () => {
  test("shows whom the ledger names after the instruction, if configured to", async () => {
    const { team } = crew(["f", "p", ledger(), done(), "x"], { emitTeamEvents: true });
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages).slice(2, 5)).toEqual([
      "MagenticOneOrchestrator: go on",
      "MagenticOneOrchestrator: ['ann']",
      "ann: ann1",
    ]);
  });

  test("keeps its last finished turn when a participant fails: the plan is there", async () => {
    const model = new ScriptedChatCompletionClient(["f", "p", ledger()]);
    const ann = speaker("ann", () => Promise.reject(new Error("ill")));
    const team = lead([ann], model);
    await expect(run(team, { task: "go" })).rejects.toThrow("ill");
    const state = managerState(team);
    expect(state).toMatchObject({ plan: "p", n_rounds: 0, troupe: { next: "work" } });
    expect(lines(state["message_thread"] as never)).toEqual([
      "MagenticOneOrchestrator: go / f / p",
    ]);
  });

  test("accepts agents only", () => {
    const inner = new RoundRobinGroupChat([new TestAgent("ann")], { name: "inner" });
    const model = new ScriptedChatCompletionClient([]);
    expect(() => lead([inner as never], model)).toThrow(/"inner" is a team.*SocietyOfMindAgent/);
    expect(() => lead([], model)).toThrow(/at least one participant/);
    expect(() => lead([new TestAgent("ann")], model, { maxTurns: 0 })).toThrow(/max_turns/);
  });

  test("may be a participant of another team", async () => {
    const { team } = crew(["f", "p", ledger(), done(), "x"], { name: "crew" });
    const outer = new RoundRobinGroupChat([team, new TestAgent("eve")], { maxTurns: 2 });
    const { messages } = await run(outer, { task: "go" });
    expect(lines(messages)).toEqual([
      "user: go",
      "MagenticOneOrchestrator: go / f / p",
      "MagenticOneOrchestrator: go on",
      "ann: ann1",
      "MagenticOneOrchestrator: x",
      "eve: eve1",
    ]);
  });
});
