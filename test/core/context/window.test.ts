import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  Catalog,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  type LLMMessage,
  run,
  ValueError,
  WindowChatCompletionContext,
} from "troupe";
import { ScriptedChatCompletionClient } from "troupe/testing";

/** A message of that many tokens. */
const said = (name: string, tokens: number): LLMMessage => ({
  content: name.padEnd(tokens * 4, "."),
  source: "u",
  type: "UserMessage",
});
const calls: LLMMessage = {
  content: [{ id: "1", name: "f", arguments: "{}" }],
  thought: null,
  source: "a",
  type: "AssistantMessage",
};
const results: LLMMessage = {
  content: [{ content: "r".repeat(40), name: "f", call_id: "1", is_error: false }],
  type: "FunctionExecutionResultMessage",
};

const names = async (context: WindowChatCompletionContext): Promise<string[]> =>
  (await context.getMessages()).map(({ type, content }) =>
    typeof content === "string" ? content.replace(/\.+$/, "") : type,
  );

describe("a window", () => {
  test("is cut to the low mark once it passes the high one, and grows again", async () => {
    const context = new WindowChatCompletionContext({ high: 100, low: 50 });
    const firsts: (string | undefined)[] = [];
    for (let index = 0; index < 16; index++) {
      context.addMessage(said(String(index), 10));
      firsts.push((await names(context))[0]);
    }
    expect(firsts).toEqual([
      ...Array.from({ length: 10 }, () => "0"),
      ...Array.from({ length: 5 }, () => "6"),
      "6",
    ]);
    context.addMessage(said("16", 10));
    expect(await names(context)).toEqual(["12", "13", "14", "15", "16"]);
  });

  test("never separates a result from its call, and keeps the last message whatever its length", async () => {
    const context = new WindowChatCompletionContext({ high: 60, low: 30 });
    for (const message of [said("a", 30), calls, results, said("b", 10)])
      context.addMessage(message);
    expect((await names(context))[0]).not.toBe("FunctionExecutionResultMessage");
    context.addMessage(said("long", 500));
    expect(await names(context)).toEqual(["long"]);
    context.addMessage(calls);
    context.addMessage(results);
    expect(await names(context)).toEqual(["AssistantMessage", "FunctionExecutionResultMessage"]);
  });

  test("is the same after its state was saved and loaded, and starts over when cleared", async () => {
    const context = new WindowChatCompletionContext({ high: 100, low: 50 });
    for (let index = 0; index < 13; index++) context.addMessage(said(String(index), 10));
    const state = context.saveState();
    expect(state["messages"]).toHaveLength(13);
    const other = new WindowChatCompletionContext({ high: 100, low: 50 });
    other.loadState(structuredClone(state));
    expect(await names(other)).toEqual(await names(context));
    // As AutoGen writes it.
    other.loadState({ messages: state["messages"] ?? [] });
    expect((await names(other)).at(-1)).toBe("12");
    other.clear();
    other.addMessage(said("new", 10));
    expect(await names(other)).toEqual(["new"]);
  });

  test("is a component", () => {
    const config = { high: 2000, low: 1000 };
    const provider = "troupe.model_context.WindowChatCompletionContext";
    const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
    const loaded = registry.load({ provider, config }, "chat_completion_context");
    expect(dumpComponent(loaded)).toMatchObject({ provider, config });
  });

  test("needs a low mark below the high one", () => {
    expect(() => new WindowChatCompletionContext({ high: 10, low: 10 })).toThrow(ValueError);
    expect(() => new WindowChatCompletionContext({ high: 10, low: 0 })).toThrow(
      "low must be a whole number greater than 0",
    );
  });
});

test("the requests of an agent with a window mostly begin as the one before", async () => {
  const replies = Array.from({ length: 40 }, (_, index) => `Reply ${index} ${".".repeat(200)}`);
  const modelClient = new ScriptedChatCompletionClient(replies);
  const modelContext = new WindowChatCompletionContext({ high: 1000, low: 500 });
  const agent = new AssistantAgent({ name: "a", modelClient, modelContext });
  for (let turn = 0; turn < 40; turn++) await run(agent, { task: `Turn ${turn}.` });
  const kept = modelClient.requests.slice(1).filter(({ messages }, index) => {
    const before = modelClient.requests[index]!.messages;
    return JSON.stringify(messages.slice(0, before.length)) === JSON.stringify(before);
  });
  expect(kept.length).toBeGreaterThan(33);
});
