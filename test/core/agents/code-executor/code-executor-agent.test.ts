import { describe, expect, test } from "vitest";
import { CodeExecutorAgent, StateError, run, runStream, type Task } from "troupe";
import type {
  ApprovalRequest,
  CodeExecutorAgentOptions,
  JsonObject,
  Message,
  Question,
} from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { type Execute, failsUntilGood, TestCodeExecutor } from "../../support/code-executor.ts";
import { lines } from "../../support/agents.ts";

const python = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
const decision = (retry: boolean, reason: string) => JSON.stringify({ retry, reason });

function make(
  options: Partial<CodeExecutorAgentOptions> = {},
  execute?: Execute,
): { agent: CodeExecutorAgent; executor: TestCodeExecutor } {
  const executor = new TestCodeExecutor(execute);
  return {
    agent: new CodeExecutorAgent({ name: "runner", codeExecutor: executor, ...options }),
    executor,
  };
}

function makeCoder(
  replies: readonly ScriptedReply[],
  options: Partial<CodeExecutorAgentOptions> = {},
  execute?: Execute,
) {
  const modelClient = new ScriptedChatCompletionClient(replies);
  return { modelClient, ...make({ modelClient, ...options }, execute) };
}

async function answer(agent: CodeExecutorAgent, task: Task): Promise<string> {
  const { messages } = await run(agent, { task });
  return lines(messages.slice(-1))[0] ?? "";
}

/** All messages of a run: a plain one has only what the response holds. */
async function streamed(agent: CodeExecutorAgent, task: Task): Promise<Message[]> {
  const messages: Message[] = [];
  for await (const item of runStream(agent, { task })) {
    if (item.type !== "TaskResult") messages.push(item);
  }
  return messages;
}

/** What happened, in short, without the task. */
function outline(messages: readonly Message[]): string[] {
  return messages.slice(1).map((message) => {
    if (message.type === "CodeExecutionEvent") {
      return `${message.retry_attempt} ran ${message.result.exit_code}: ${message.result.output}`;
    }
    if (message.type === "CodeGenerationEvent") {
      return `${message.retry_attempt} wrote ${message.code_blocks.length}`;
    }
    return `${message.type}: ${lines([message])[0]}`;
  });
}

describe("an executor without a model", () => {
  test("runs all blocks of all messages at once and reports their output", async () => {
    const { agent, executor } = make();
    expect(await answer(agent, `${python("1")} and ${python("2")}`)).toBe("runner: 1\n2\n");
    expect(executor.ran).toEqual([
      [
        { language: "python", code: "1\n" },
        { language: "python", code: "2\n" },
      ],
    ]);
  });

  test("reports that there is nothing to run, and runs nothing", async () => {
    const { agent, executor } = make({ supportedLanguages: ["sh"] });
    expect(await answer(agent, python("1"))).toContain("no code to run");
    expect(executor.ran).toEqual([]);
  });

  test("distinguishes failures and silence from output", async () => {
    const outputs = [
      { exit_code: 3, output: "boom" },
      { exit_code: 0, output: " \n" },
      { exit_code: 4, output: "" },
    ];
    const { agent } = make({}, () => outputs.shift()!);
    expect(await answer(agent, python("x"))).toMatch(/exit code 3.*\nboom$/s);
    expect(await answer(agent, python("x"))).toMatch(/exit code 0 and printed nothing/);
    expect(await answer(agent, python("x"))).toMatch(/exit code 4 and printed nothing/);
  });

  test("uses the configured words for everything", async () => {
    const prompts = {
      noCodeBlocks: "nothing {here}",
      emptyOutput: "quiet {exit_code}",
      errorOutput: "{{{exit_code}}} {output}",
    };
    const outputs = [
      { exit_code: 1, output: "{output}" },
      { exit_code: 0, output: "" },
    ];
    const { agent } = make({ prompts }, () => outputs.shift()!);
    expect(await answer(agent, "hi")).toBe("runner: nothing {here}");
    expect(await answer(agent, python("x"))).toBe("runner: {1} {output}");
    expect(await answer(agent, python("x"))).toBe("runner: quiet 0");
  });

  test("fails when the code could not be run", async () => {
    const { agent } = make({}, () => Promise.reject(new Error("the sandbox is gone")));
    await expect(run(agent, { task: python("x") })).rejects.toThrow("the sandbox is gone");
  });

  test("closes its executor", async () => {
    const { agent, executor } = make();
    await agent.close();
    expect(executor.closed).toBe(true);
  });
});

describe("an executor with a model", () => {
  test("writes code, runs it and reports the outcome", async () => {
    const { agent, modelClient } = makeCoder([
      { content: python("6*7"), thought: "multiply" },
      { content: "It is 42.", thought: "easy" },
    ]);
    const messages = await streamed(agent, "6*7?");
    expect(outline(messages)).toEqual([
      "ThoughtEvent: runner: multiply",
      "0 wrote 1",
      "0 ran 0: 6*7\n",
      "ThoughtEvent: runner: easy",
      "TextMessage: runner: It is 42.",
    ]);
    expect(messages.at(-1)?.models_usage).toEqual({ prompt_tokens: 10, completion_tokens: 5 });
    expect(modelClient.requests[1]?.messages.slice(1)).toEqual([
      { type: "UserMessage", source: "user", content: "6*7?" },
      { type: "AssistantMessage", source: "runner", content: python("6*7"), thought: "multiply" },
      { type: "UserMessage", source: "runner", content: "6*7\n" },
    ]);
  });

  test("answers at once when it writes no code", async () => {
    const { agent, executor, modelClient } = makeCoder(["Hello."]);
    expect(await answer(agent, "Hi")).toBe("runner: Hello.");
    expect(executor.ran).toEqual([]);
    modelClient.assertDone();
  });

  test("writes its code again until it works", async () => {
    const { agent, modelClient, executor } = makeCoder(
      [
        python("bad"),
        decision(true, "make it better"),
        python("worse"),
        '{"retry": "yes", "reason": "make it good"}',
        python("good"),
        "Done.",
      ],
      { maxRetriesOnError: 5 },
      failsUntilGood,
    );
    const messages = await streamed(agent, "go");
    expect(outline(messages)).toEqual([
      "0 wrote 1",
      expect.stringMatching(/^0 ran 2: .*broken$/s),
      "0 wrote 0",
      "1 wrote 1",
      expect.stringMatching(/^1 ran 2: .*broken$/s),
      "1 wrote 0",
      "2 wrote 1",
      "2 ran 0: fine",
      "TextMessage: runner: Done.",
    ]);
    expect(lines(messages)[6]).toBe("runner: Attempt number: 2\nProposed correction: make it good");
    expect(executor.ran).toHaveLength(3);
    const [, asked] = modelClient.requests;
    expect(asked?.options.jsonOutput).toMatchObject({ name: "RetryDecision" });
    expect(asked?.messages.map(({ type }) => type)).not.toContain("SystemMessage");
    modelClient.assertDone();
  });

  test.each([
    ["it decides so", 3, [python("bad"), decision(false, "hopeless"), "It failed."]],
    ["it may not retry", 0, [python("bad"), "It failed."]],
    [
      "the last attempt failed",
      1,
      [python("bad"), decision(true, "again"), python("bad"), "It failed."],
    ],
  ])("gives up when %s", async (_why, maxRetriesOnError, replies) => {
    const { agent, modelClient } = makeCoder(replies, { maxRetriesOnError }, failsUntilGood);
    expect(await answer(agent, "go")).toBe("runner: It failed.");
    modelClient.assertDone();
  });

  test.each([
    ["no JSON", "let me see"],
    ["something else", '{"retry": 7}'],
  ])("fails when the decision is %s", async (_what, reply) => {
    const { agent } = makeCoder([python("bad"), reply], { maxRetriesOnError: 1 }, failsUntilGood);
    await expect(run(agent, { task: "go" })).rejects.toMatchObject({ code: "bad_decision" });
  });

  test("fails when the model calls tools that it does not have", async () => {
    const { agent } = makeCoder([[{ id: "1", name: "f", arguments: "{}" }]]);
    await expect(run(agent, { task: "go" })).rejects.toMatchObject({ code: "no_text" });
  });

  test("shows its text in pieces, which name their message no better than AutoGen's, and the output of code", async () => {
    const replies = [python("bad"), decision(false, "no"), "It failed badly."];
    const options = { maxRetriesOnError: 1, modelClientStream: true };
    const { agent, modelClient } = makeCoder(replies, options, failsUntilGood);
    const said: string[] = [];
    const printed = new Map<string, string>();
    let execution: unknown;
    for await (const item of runStream(agent, { task: "go" })) {
      if (!("type" in item)) continue;
      if (item.type === "CodeExecutionEvent") execution = item.id;
      if (item.type !== "ModelClientStreamingChunkEvent") continue;
      const { full_message_id: of, content } = item;
      if (of === null) said.push(content);
      else printed.set(of, `${printed.get(of) ?? ""}${content}`);
    }
    expect(said.join("")).toBe(`${python("bad")}It failed badly.`);
    expect([...printed]).toEqual([[execution, "broken"]]);
    expect(modelClient.requests.map(({ streaming }) => streaming)).toEqual([true, false, true]);
  });

  test("shows no pictures to a model that does not see", async () => {
    const { agent, modelClient } = makeCoder(
      [python("bad"), decision(false, "no"), "It failed."],
      { maxRetriesOnError: 1 },
      failsUntilGood,
    );
    const content = ["look", { data: "iVBORw0KGgo=" }];
    await run(agent, { task: { type: "MultiModalMessage", source: "user", content } as never });
    for (const { messages } of modelClient.requests) {
      const first = messages.find(({ type }) => type === "UserMessage");
      expect(first?.content).toBe("look\n<image>");
    }
  });
});

describe("the approval of code", () => {
  test("is requested with all of the code and the conversation of the model", async () => {
    const requests: ApprovalRequest[] = [];
    const { agent } = makeCoder([`${python("1")}\n${python("2")}`, "Done."], {
      approvalFunc: (request) => {
        requests.push(request);
        return { approved: true, reason: "" };
      },
    });
    await run(agent, { task: "go" });
    expect(requests).toMatchObject([
      {
        code: "```python\n1\n\n```\n\n```python\n2\n\n```",
        context: [{ content: "go" }, { type: "AssistantMessage" }],
      },
    ]);
  });

  test("means a failure if it is refused, and nothing is run", async () => {
    const { agent, executor } = makeCoder(
      [python("bad"), decision(true, "ask nicely"), python("good"), "Done."],
      {
        maxRetriesOnError: 1,
        approvalFunc: async ({ code }) => ({ approved: code.includes("good"), reason: "not good" }),
      },
      failsUntilGood,
    );
    const messages = await streamed(agent, "go");
    expect(outline(messages)).toContain(
      "0 ran 1: Code execution was not approved. Reason: not good",
    );
    expect(executor.ran).toHaveLength(1);
  });

  test("is missing if the function fails or returns nothing", async () => {
    for (const approvalFunc of [() => Promise.reject(new Error("no")), () => ({}) as never]) {
      const { agent, executor } = make({ approvalFunc });
      await expect(run(agent, { task: python("x") })).rejects.toThrow();
      expect(executor.ran).toEqual([]);
    }
  });
});

describe("the approval of code by a human", () => {
  test("is requested for all code of a round, and again when it is written again", async () => {
    const { agent, executor } = makeCoder(
      [python("bad"), decision(true, "x"), `${python("good")} ${python("2")}`, "done"],
      { approval: "human", maxRetriesOnError: 1 },
      failsUntilGood,
    );
    const asked: Question[] = [];
    await run(agent, {
      task: "go",
      answer: (question) => {
        asked.push(question);
        return Promise.resolve({ approved: executor.ran.length === asked.length - 1 });
      },
    });
    expect(asked).toMatchObject([
      {
        kind: "approval",
        source: "runner",
        prompt: '"runner" wants to run this code.',
        code: "```python\nbad\n\n```",
        timeoutSeconds: null,
      },
      { code: "```python\ngood\n\n```\n\n```python\n2\n\n```" },
    ]);
    expect(asked[0]?.id).not.toBe(asked[1]?.id);
    expect(executor.ran).toHaveLength(2);
  });

  test("runs nothing if it is refused, and names the reason", async () => {
    const { agent, executor } = make({ approval: "human", approvalTimeoutSeconds: 60 });
    const { messages } = await run(agent, {
      task: python("1"),
      answer: () => Promise.resolve({ approved: false, reason: "not now" }),
    });
    expect(lines(messages).at(-1)).toBe("runner: Code execution was not approved. Reason: not now");
    expect(executor.ran).toEqual([]);
  });

  test("is refused if no human can be asked", async () => {
    const { agent, executor } = make({ approval: "human" });
    await expect(run(agent, { task: python("1") })).rejects.toThrow(/has no answer function/);
    expect(executor.ran).toEqual([]);
  });
});

describe("the state of an executor", () => {
  const replies = ["I see.", "You said: first."];

  test("has the model context, under troupe", async () => {
    const { agent } = makeCoder(replies);
    await run(agent, { task: "first" });
    const state = agent.saveState();
    expect(state).toMatchObject({ type: "BaseState", version: "1.0.0" });
    const other = makeCoder(replies.slice(1));
    other.agent.loadState(state);
    await run(other.agent, { task: "what did I say?" });
    expect(other.modelClient.requests[0]?.messages).toMatchObject([
      { type: "SystemMessage" },
      { content: "first" },
      { content: "I see." },
      { content: "what did I say?" },
    ]);
  });

  test("that AutoGen has saved contains nothing and changes nothing", async () => {
    const { agent } = makeCoder(replies);
    await run(agent, { task: "first" });
    const before = agent.saveState();
    agent.loadState({ type: "BaseState", version: "1.0.0" });
    expect(agent.saveState()).toEqual(before);
  });

  test.each<[JsonObject]>([
    [{ troupe: 1 }],
    [{ troupe: { llm_context: { messages: [{ type: "?" }] } } }],
    [{ type: 7 }],
  ])("that is %j does not fit and changes nothing", async (state) => {
    const { agent } = makeCoder(replies);
    await run(agent, { task: "first" });
    const before = agent.saveState();
    expect(() => agent.loadState(state)).toThrow(StateError);
    expect(agent.saveState()).toEqual(before);
  });
});

describe("files that the code wrote", () => {
  const wrote: Execute = () => ({ exit_code: 0, output: "drawn", files: ["plot.png", "a b"] });
  const files = '["plot.png","a b"]';

  test("are named in the metadata of the answer", async () => {
    const { agent } = make({}, wrote);
    const { messages } = await run(agent, { task: python("draw()") });
    expect(messages.at(-1)).toMatchObject({ content: "drawn", metadata: { files } });
  });

  test("are named in the metadata of the event, whose result has AutoGen's fields only", async () => {
    const { agent } = makeCoder([python("draw()"), "Here it is."], {}, wrote);
    const messages = await streamed(agent, "Draw.");
    const event = messages.find(({ type }) => type === "CodeExecutionEvent");
    expect(event).toMatchObject({ metadata: { files } });
    expect(event).toHaveProperty("result", { exit_code: 0, output: "drawn" });
    expect(messages.at(-1)).toMatchObject({ content: "Here it is.", metadata: {} });
  });
});
