import { describe, expect, test } from "vitest";
import {
  BufferedChatCompletionContext,
  RoundRobinGroupChat,
  SelectorGroupChat,
  TurnSignal,
  UnboundedChatCompletionContext,
  createMessage,
  reset,
  run,
  runStream,
} from "troupe";
import type { HandoffMessage, Message, MultiModalMessage } from "troupe";
import { ScriptedChatCompletionClient } from "#testing/scripted-chat-completion-client.ts";
import { lines, ORIGIN, speaker, TestAgent, text } from "../../support/agents.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";
import { PROMPT, trio } from "./support.ts";

const ROLES = ["ann", "bob", "cat"]
  .map((name) => `${name}: ${name} is made for a test.`)
  .join("\n");

describe("the question to the model", () => {
  test("holds roles, candidates and the conversation, without the previous speaker", async () => {
    const { team, model, asked } = trio(["bob", "I say cat."], { maxTurns: 2 });
    const { messages } = await run(team, { task: "go " });
    expect(lines(messages)).toEqual(["user: go ", "bob: bob1", "cat: cat1"]);
    expect(asked()).toEqual([
      `${ROLES}|['ann', 'bob', 'cat']|user: go\n\n`,
      `${ROLES}|['ann', 'cat']|user: go\n\n\nbob: bob1\n\n`,
    ]);
    expect(model.requests.map(({ messages: [first] }) => first?.type)).toEqual([
      "UserMessage",
      "UserMessage",
    ]);
    model.assertDone();
  });

  test("is a system message for models of OpenAI", async () => {
    const model = new ScriptedChatCompletionClient(["bob"], { family: "gpt-4o" });
    const { team } = trio([], { modelClient: model });
    await run(team, { task: "go" });
    expect(model.requests[0]?.messages).toEqual([
      { content: `${ROLES}|['ann', 'bob', 'cat']|user: go\n\n`, type: "SystemMessage" },
    ]);
  });

  test("has a template of its own, which mentions all placeholders", async () => {
    const model = new ScriptedChatCompletionClient(["bob"]);
    const team = new SelectorGroupChat(
      ["ann", "bob"].map((name) => new TestAgent(name)),
      { modelClient: model, maxTurns: 1 },
    );
    await run(team, { task: "Build {it}." });
    for (const part of ["ann: ann is made", "\nuser: Build {it}.\n", "['ann', 'bob']"]) {
      expect(model.requests[0]?.messages[0]?.content).toContain(part);
    }
  });

  test("shows pictures and calls in a readable way, and results of tools not at all", async () => {
    const { team, asked } = trio(["bob"]);
    const picture: MultiModalMessage = createMessage(ORIGIN, {
      type: "MultiModalMessage",
      source: "user",
      content: ["Look:", { data: "iVBORw0KGgo=" }],
    });
    const handoff: HandoffMessage = createMessage(ORIGIN, {
      type: "HandoffMessage",
      source: "desk",
      target: "ann",
      content: "Yours.",
      context: [
        {
          type: "AssistantMessage",
          source: "desk",
          thought: null,
          content: [{ id: "1", name: "find", arguments: '{"x":1}' }],
        },
        {
          type: "FunctionExecutionResultMessage",
          content: [{ name: "find", call_id: "1", content: "found", is_error: false }],
        },
      ],
    });
    await run(team, { task: [picture, handoff] });
    expect(asked()).toEqual([
      `${ROLES}|['ann', 'bob', 'cat']|user: Look:\n<image>\n\n\ndesk: [FunctionCall(id='1', arguments='{"x":1}', name='find')]\n\n\ndesk: Yours.\n\n`,
    ]);
  });

  test("shows as much of the conversation as the model context does", async () => {
    const { team, asked } = trio(["bob", "cat", "ann"], {
      maxTurns: 3,
      modelContext: new BufferedChatCompletionContext(2),
    });
    await run(team, { task: "go" });
    expect(String(asked().at(-1))).toBe(`${ROLES}|['ann', 'bob']|bob: bob1\n\n\ncat: cat1\n\n`);
  });

  test("is not sent if only one participant may speak", async () => {
    const model = new ScriptedChatCompletionClient(["bob"]);
    const team = new SelectorGroupChat(
      ["ann", "bob"].map((name) => new TestAgent(name)),
      { modelClient: model, maxTurns: 3 },
    );
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "bob: bob1",
      "ann: ann1",
      "bob: bob2",
    ]);
    model.assertDone();
  });
});

describe("an unusable answer", () => {
  test("is answered with feedback in the same conversation", async () => {
    const feedback = { none: "none of {participants}", many: "many", repeated: "repeated" };
    const { team, model } = trio(["ann", "nobody", "bob or cat", "ann", "cat"], {
      maxTurns: 2,
      maxSelectorAttempts: 4,
      selectorFeedback: feedback,
    });
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages).at(-1)).toBe("cat: cat1");
    const assistant = (content: string) => ({
      content,
      thought: null,
      source: "selector",
      type: "AssistantMessage",
    });
    const user = (content: string) => ({ content, source: "user", type: "UserMessage" });
    expect(model.requests.at(-1)?.messages.slice(1)).toEqual([
      assistant("nobody"),
      user("none of ['bob', 'cat']"),
      assistant("bob or cat"),
      user("many"),
      assistant("ann"),
      user("repeated"),
    ]);
    model.assertDone();
  });

  test("gets feedback of its own if the team has none", async () => {
    const { team, asked } = trio(["nobody", "ann, bob", "ann", "ann", "bob"], { maxTurns: 2 });
    await run(team, { task: "go" });
    const feedback = asked().filter((question) => !String(question).startsWith("ann:"));
    expect(new Set(feedback).size).toBe(3);
    expect(feedback[0]).toContain("['ann', 'bob', 'cat']");
    expect(feedback[2]).toContain("['bob', 'cat']");
  });

  type Options = Parameters<typeof trio>[1];
  test.each<[string, string[], Options, string]>([
    [
      "the previous speaker, where it may",
      ["bob", "x", "x"],
      { allowRepeatedSpeaker: true },
      "bob bob",
    ],
    ["the first one that may speak", ["ann", "ann", "ann"], {}, "ann bob"],
    ["the first candidate without a previous speaker", ["x", "x", "x", "x"], {}, "ann bob"],
    [
      "a candidate, not the previous speaker that a function names beside it",
      ["ann", "ann"],
      { candidateFunc: (thread) => (thread.length === 1 ? ["ann"] : ["ann", "cat"]) },
      "ann cat",
    ],
    [
      "the only candidate, even if it has just spoken",
      [],
      { candidateFunc: () => ["ann"] },
      "ann ann",
    ],
    [
      "a candidate, not another participant that the model names",
      ["cat", "cat", "cat", "bob"],
      { candidateFunc: () => ["ann", "bob"] },
      "ann bob",
    ],
    [
      "another than the one that a function chose before",
      ["ann", "ann"],
      { selectorFunc: (thread) => (thread.length === 1 ? "ann" : null) },
      "ann bob",
    ],
  ])("ends with %s", async (_, answers, options, speakers) => {
    const { team, model } = trio(answers, { maxSelectorAttempts: 2, maxTurns: 2, ...options });
    const { messages } = await run(team, { task: "go" });
    expect(
      messages
        .map(({ source }) => source)
        .slice(1)
        .join(" "),
    ).toBe(speakers);
    model.assertDone();
  });

  test.each([
    "<think>ann has just spoken, so bob or cat.</think>bob",
    "ann? cat?</think>\nbob",
    "<|channel|>analysis<|message|>ann or cat<|end|><|start|>assistant<|channel|>final<|message|>bob",
  ])("does not become usable by a name in a thought: %s", async (answer) => {
    const { team, model } = trio([answer]);
    const { messages } = await run(team, { task: "go" });
    expect(messages.at(-1)?.source).toBe("bob");
    model.assertDone();
  });

  test("becomes usable if it names the previous speaker and that is allowed", async () => {
    const { team, asked } = trio(["bob", "bob"], { maxTurns: 2, allowRepeatedSpeaker: true });
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages).at(-1)).toBe("bob: bob2");
    expect(asked()[1]).toContain("|['ann', 'bob', 'cat']|");
  });

  test("ends the run if it is a tool call", async () => {
    const { team } = trio([[{ id: "1", name: "bob", arguments: "{}" }]]);
    await expect(run(team, { task: "go" })).rejects.toThrow(
      expect.objectContaining({ code: "no_text" }),
    );
  });
});

describe("selector functions", () => {
  test("get the whole thread, events included, and may be asynchronous", async () => {
    const threads: string[][] = [];
    const { team, model } = trio(["ann"], {
      maxTurns: 2,
      selectorFunc: async (thread) => {
        threads.push(lines(thread));
        return thread.length === 1 ? "bob" : null;
      },
    });
    await run(team, { task: "go" });
    expect(threads).toEqual([["user: go"], ["user: go", "bob: bob1"]]);
    model.assertDone();
  });

  test("narrow the choice, and make it if they leave one", async () => {
    const { team, asked } = trio(["ann"], {
      maxTurns: 2,
      candidateFunc: async (thread) => (thread.length === 1 ? ["bob"] : ["ann", "bob"]),
    });
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "bob: bob1",
      "ann: ann1",
    ]);
    expect(asked()).toEqual([expect.stringContaining("|['ann', 'bob']|")]);
  });

  test("must name participants", async () => {
    await expect(run(trio([], { selectorFunc: () => "dog" }).team, { task: "go" })).rejects.toThrow(
      expect.objectContaining({ code: "unknown_speaker" }),
    );
    await expect(
      run(trio([], { candidateFunc: () => ["ann", "dog"] }).team, { task: "go" }),
    ).rejects.toThrow(expect.objectContaining({ code: "unknown_speaker" }));
    await expect(run(trio([], { candidateFunc: () => [] }).team, { task: "go" })).rejects.toThrow(
      expect.objectContaining({ code: "no_candidates" }),
    );
  });

  test("have steps of their own, which are not repeated when the turn runs again", async () => {
    let effects = 0;
    const { team, model } = trio(["cat"], {
      selectorFunc: (_thread, ctx) => ctx.step("look", async () => (++effects > 1 ? "bob" : null)),
      candidateFunc: (_thread, ctx) => ctx.step("look", async () => ["ann", "cat"]),
    });
    await outcome(team.begin(taskOf("go"), new RecordingHost().attempt()));
    const journal = new RecordingHost();
    const interrupted = await outcome(team.turn(journal.attempt({ afterSteps: 2 })));
    expect(interrupted.error).toBeInstanceOf(TurnSignal);
    const { result, items } = await outcome(team.turn(journal.attempt()));
    expect(result).toMatchObject({ done: true });
    expect(lines(items)).toEqual(["cat: cat1"]);
    expect(effects).toBe(1);
    model.assertDone();
  });
});

describe("the events of a selection", () => {
  const shape = (message: Message) => `${message.type} ${message.source}`;

  test("stream while the model answers, on request", async () => {
    const { team } = trio(["not him", "the bob"], {
      emitTeamEvents: true,
      modelClientStreaming: true,
    });
    const items: Message[] = [];
    for await (const item of runStream(team, { task: "go" })) {
      if (item.type !== "TaskResult") items.push(item);
    }
    const manager = "SelectorGroupChatManager";
    expect(items.map((item) => [shape(item), "content" in item && item.content])).toEqual([
      ["TextMessage user", "go"],
      [`ModelClientStreamingChunkEvent ${manager}`, "not "],
      [`ModelClientStreamingChunkEvent ${manager}`, "him"],
      [`SelectorEvent ${manager}`, "not him"],
      [`ModelClientStreamingChunkEvent ${manager}`, "the "],
      [`ModelClientStreamingChunkEvent ${manager}`, "bob"],
      [`SelectorEvent ${manager}`, "the bob"],
      [`SelectSpeakerEvent ${manager}`, ["bob"]],
      ["TextMessage bob", "bob1"],
    ]);
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
    expect(lines(team.conversation())).toEqual(["user: go", "bob: bob1"]);
  });

  test("are not shown by default, also when the model streams", async () => {
    const { team, model } = trio(["the bob"], { modelClientStreaming: true });
    expect(lines((await run(team, { task: "go" })).messages)).toEqual(["user: go", "bob: bob1"]);
    expect(model.requests[0]?.streaming).toBe(true);
  });

  test("are the same when the turn runs again, pieces left out", async () => {
    const { team } = trio(["x", "the bob"], { emitTeamEvents: true, modelClientStreaming: true });
    await outcome(team.begin(taskOf("go"), new RecordingHost().attempt()));
    const journal = new RecordingHost();
    const seen = (items: readonly Message[]): string[] =>
      items
        .filter(({ type }) => type !== "ModelClientStreamingChunkEvent")
        .map(({ id, created_at, type }) => `${id} ${created_at} ${type}`);
    const first = await outcome(team.turn(journal.attempt({ afterSteps: 1 })));
    const second = await outcome(team.turn(journal.attempt()));
    expect(first.error).toBeDefined();
    expect(seen(first.items)).toEqual(seen(second.items).slice(0, 1));
    expect(seen(second.items)).toHaveLength(4);
  });
});

describe("teams as participants", () => {
  test("are chosen by their name and heard by the messages of their members", async () => {
    const crew = new RoundRobinGroupChat([new TestAgent("dan"), new TestAgent("eve")], {
      name: "the crew",
      description: "Works\nin pairs.",
      maxTurns: 2,
    });
    const model = new ScriptedChatCompletionClient(["the crew", "ann"]);
    const ann = speaker("ann", (heard) => `heard ${lines(heard).join(", ")}`);
    const team = new SelectorGroupChat([ann, crew], {
      modelClient: model,
      selectorPrompt: PROMPT,
      allowRepeatedSpeaker: true,
      maxTurns: 2,
    });
    const { messages } = await run(team, { task: "go" });
    expect(lines(messages)).toEqual([
      "user: go",
      "dan: dan1",
      "eve: eve1",
      "ann: heard user: go, dan: dan1, eve: eve1",
    ]);
    expect(model.requests[1]?.messages[0]?.content).toBe(
      "ann: ann is made for a test.\nthe crew: Works in pairs.|['ann', 'the crew']|user: go\n\n\ndan: dan1\n\n\neve: eve1\n\n",
    );
  });

  test("may be selector teams themselves", async () => {
    const inner = trio(["cat"], { name: "inner" }).team;
    const model = new ScriptedChatCompletionClient(["inner"]);
    const team = new SelectorGroupChat([inner, new TestAgent("dan")], {
      modelClient: model,
      maxTurns: 2,
    });
    expect(lines((await run(team, { task: "go" })).messages)).toEqual([
      "user: go",
      "cat: cat1",
      "dan: dan1",
    ]);
  });
});

describe("a reset of a selector", () => {
  test("forgets conversation, initial messages and previous speaker", async () => {
    const modelContext = new UnboundedChatCompletionContext([
      { content: "first of all", source: "boss", type: "UserMessage" },
    ]);
    const { team, asked } = trio(["bob", "bob"], { modelContext });
    await run(team, { task: "go" });
    await reset(team);
    await run(team, { task: "again" });
    expect(asked()[0]).toContain("|boss: first of all\n\n\nuser: go\n\n");
    expect(asked()[1]).toBe(`${ROLES}|['ann', 'bob', 'cat']|user: again\n\n`);
  });
});

test("a selector needs a candidate to choose from", () => {
  const modelClient = new ScriptedChatCompletionClient([]);
  expect(() => new SelectorGroupChat([new TestAgent("ann")], { modelClient })).toThrow(
    expect.objectContaining({ code: "invalid_value" }),
  );
});

function taskOf(content: string) {
  return { messages: [text("user", content, ORIGIN)], outputTaskMessages: true };
}
