import { describe, expect, test } from "vitest";
import * as z from "zod";
import {
  AssistantAgent,
  ChatCompletionCache,
  CodeExecutorAgent,
  FunctionTool,
  MagenticOneGroupChat,
  OpenAIChatCompletionClient,
  ReplayChatCompletionClient,
  run,
  SelectorGroupChat,
  StateError,
  Swarm,
  TextMessageTermination,
  UnboundedChatCompletionContext,
} from "troupe";
import type { AssistantMessage, CreateResult, FunctionCall, LLMMessage, MakerData } from "troupe";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { speaker } from "../support/agents.ts";
import { failsUntilGood, TestCodeExecutor } from "../support/code-executor.ts";
import { ledger } from "../support/ledger.ts";

const look = new FunctionTool({
  name: "look",
  description: "Looks.",
  parameters: z.object({}),
  execute: () => "seen",
});

function data(of: string): MakerData {
  return { maker: "acme", model: "thinker", data: { of, signature: null, blocks: [of, null] } };
}

function call(name: string, id = `call_${name}`): FunctionCall {
  return { id, name, arguments: "{}" };
}

/** An answer with maker data that is named after it. */
function answer(content: string | FunctionCall[], of: string): ScriptedReply {
  return { content, troupe: data(of) };
}

/** What goes back to the maker with each request. */
function sentBack(model: ScriptedChatCompletionClient): unknown[][] {
  return model.requests.map(({ messages }) =>
    messages.filter((message) => message.type === "AssistantMessage").map(({ troupe }) => troupe),
  );
}

describe("the data that a maker needs back", () => {
  test("pass through a tool loop and the reflection after it, streamed or whole", async () => {
    for (const modelClientStream of [false, true]) {
      const model = new ScriptedChatCompletionClient([
        answer([call("look", "1")], "first"),
        answer([call("look", "2")], "second"),
        answer("Done.", "third"),
        "Again.",
      ]);
      const agent = new AssistantAgent({
        name: "ann",
        modelClient: model,
        tools: [look],
        maxToolIterations: 2,
        reflectOnToolUse: true,
        modelClientStream,
      });
      const { messages } = await run(agent, { task: "go" });
      await run(agent, { task: "and again" });
      expect(sentBack(model)).toEqual([
        [],
        [data("first")],
        [data("first"), data("second")],
        [data("first"), data("second"), data("third")],
      ]);
      expect(JSON.stringify(messages)).not.toContain("acme");
    }
  });

  test("pass to the agent that takes over with calls, and only with these", async () => {
    const first = new ScriptedChatCompletionClient([
      answer([call("look")], "before"),
      answer([call("look"), call("transfer_to_bob")], "handoff"),
    ]);
    const second = new ScriptedChatCompletionClient(["Done."]);
    const ann = new AssistantAgent({
      name: "ann",
      modelClient: first,
      tools: [look],
      handoffs: ["bob"],
      maxToolIterations: 5,
    });
    const bob = new AssistantAgent({ name: "bob", modelClient: second });
    const team = new Swarm([ann, bob], { terminationCondition: new TextMessageTermination("bob") });
    await run(team, { task: "go" });
    expect(sentBack(second)).toEqual([[data("handoff")]]);
    const shown = second.requests[0]?.messages.find(({ type }) => type === "AssistantMessage");
    expect(shown?.content).toEqual([call("look")]);
  });

  test("do not pass to the agent that takes over with only a thought", async () => {
    const first = new ScriptedChatCompletionClient([
      { content: [call("transfer_to_bob")], thought: "Bob knows.", troupe: data("handoff") },
    ]);
    const second = new ScriptedChatCompletionClient(["Done."]);
    const ann = new AssistantAgent({ name: "ann", modelClient: first, handoffs: ["bob"] });
    const bob = new AssistantAgent({ name: "bob", modelClient: second });
    const team = new Swarm([ann, bob], { terminationCondition: new TextMessageTermination("bob") });
    await run(team, { task: "go" });
    expect(sentBack(second)).toEqual([[undefined]]);
  });

  test("pass to a code executor's model", async () => {
    const code = "```python\nbad\n```";
    const model = new ScriptedChatCompletionClient([answer(code, "code"), "It failed."]);
    const agent = new CodeExecutorAgent({
      name: "runner",
      codeExecutor: new TestCodeExecutor(failsUntilGood),
      modelClient: model,
    });
    await run(agent, { task: "go" });
    expect(sentBack(model)).toEqual([[], [data("code")]]);
  });

  test("pass to a selector's model with the feedback", async () => {
    const model = new ScriptedChatCompletionClient([answer("Neither.", "choice"), "ann"]);
    const team = new SelectorGroupChat([speaker("ann", () => "Hi."), speaker("bob", () => "Hi.")], {
      modelClient: model,
      terminationCondition: new TextMessageTermination("ann"),
    });
    await run(team, { task: "go" });
    expect(sentBack(model)).toEqual([[], [data("choice")]]);
  });

  test("pass to an orchestrator's model with the facts that it listed", async () => {
    const model = new ScriptedChatCompletionClient([
      answer("Facts.", "facts"),
      answer("Plan.", "plan"),
      ledger({ satisfied: true }),
      "Done.",
    ]);
    const team = new MagenticOneGroupChat([speaker("ann", () => "Hi.")], { modelClient: model });
    await run(team, { task: "go" });
    expect(sentBack(model).slice(0, 2)).toEqual([[], [data("facts")]]);
  });
});

describe("data that a maker needs back", () => {
  const message = (of: string): AssistantMessage => ({
    content: [call("look")],
    thought: null,
    source: "ann",
    type: "AssistantMessage",
    troupe: data(of),
  });

  test("are part of a saved state, unchanged", () => {
    const context = new UnboundedChatCompletionContext();
    context.addMessage(message("x"));
    const state = structuredClone(context.saveState());
    const other = new UnboundedChatCompletionContext();
    other.loadState(state);
    expect(other.saveState()).toEqual({ messages: [message("x")] });
  });

  test.each([
    [{ maker: "acme", model: "thinker" }, "messages[0].troupe.data"],
    [{ model: "thinker", data: 1 }, "messages[0].troupe.maker"],
    ["acme", "messages[0].troupe"],
  ])("are refused in another form: %j", (troupe, path) => {
    const context = new UnboundedChatCompletionContext();
    const state = { messages: [{ ...message("x"), troupe }] };
    expect(() => context.loadState(state)).toThrow(StateError);
    expect(() => context.loadState(state)).toThrow(path);
  });

  test("are not part of the key of a cached request, and come with a stored answer", async () => {
    const client = new ScriptedChatCompletionClient([answer("Hi.", "answer"), "Bye."]);
    const cache = new ChatCompletionCache(client);
    const asked = (of: string): LLMMessage[] => [message(of)];
    await cache.create(asked("one"));
    const stored = await cache.create(asked("two"));
    expect(stored).toMatchObject({ content: "Hi.", from_store: true, troupe: data("answer") });
    expect(client.requests).toHaveLength(1);
  });

  test("are dumped with the answers of a replay client, nulls included, and come with them", async () => {
    const result: CreateResult = {
      finish_reason: "stop",
      content: "Hi.",
      usage: { prompt_tokens: 1, completion_tokens: 1 },
      cached: false,
      troupe: data("answer"),
    };
    const client = new ReplayChatCompletionClient([result]);
    expect(client.toConfig()["chat_completions"]).toEqual([result]);
    expect(await client.create([])).toMatchObject({ troupe: data("answer") });
  });

  test("do not count as tokens", async () => {
    const client = new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "none" });
    const { troupe: _, ...plain } = message("x");
    expect(await client.countTokens([message("x")])).toBe(await client.countTokens([plain]));
  });
});
