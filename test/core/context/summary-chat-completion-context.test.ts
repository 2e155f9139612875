import { expect, test } from "vitest";
import {
  AssistantAgent,
  Catalog,
  ComponentRegistry,
  coreComponents,
  dumpComponent,
  FunctionTool,
  type LLMMessage,
  ReplayChatCompletionClient,
  run,
  SummaryChatCompletionContext,
  UnboundedChatCompletionContext,
} from "troupe";
import * as z from "zod";
import { call, Model } from "../support/model.ts";

/** A text of a number of estimated tokens. */
const long = (word: string, tokens: number) => word.padEnd(tokens * 4, ".");

function shown(messages: readonly LLMMessage[] = []): string[] {
  return messages.map(({ type, content }) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    const summary = /<summary-\w+>\n([\s\S]*)\n<\/summary-\w+>/.exec(text)?.[1];
    return summary === undefined ? `${type} ${text.replace(/\.+$/, "")}` : `summary ${summary}`;
  });
}

function agentWith(model: Model, modelContext: SummaryChatCompletionContext): AssistantAgent {
  return new AssistantAgent({ name: "a", modelClient: model, modelContext, systemMessage: null });
}

test("messages beyond the limit are shown as a summary, which is made from the one before and the newer messages", async () => {
  const model = new Model(
    long("one", 30),
    "First summary.",
    long("two", 30),
    "Second summary.",
    long("three", 30),
  );
  const context = new SummaryChatCompletionContext({ tokenLimit: 100, keepLast: 1 });
  const agent = agentWith(model, context);
  await run(agent, long("a", 30));
  await run(agent, long("b", 50));
  await run(agent, long("c", 50));
  const [first, summary, second, again, third] = model.read;
  expect(shown(first)).toEqual(["UserMessage a"]);
  expect(summary?.[1]?.content).toContain("user: a");
  expect(summary?.[1]?.content).toContain("a: one");
  expect(summary?.[1]?.content).not.toContain("user: b");
  expect(shown(second)).toEqual(["summary First summary.", "UserMessage b"]);
  expect(again?.[1]?.content).toMatch(/<summary-\w+>\nFirst summary\.\n<\/summary/);
  expect(again?.[1]?.content).toContain("user: b");
  expect(again?.[1]?.content).not.toContain("user: a");
  expect(shown(third)).toEqual(["summary Second summary.", "UserMessage c"]);
  const state = context.saveState() as { messages: unknown[]; troupe: unknown };
  expect(state.messages).toHaveLength(6);
  expect(state.troupe).toEqual({ summary: { text: "Second summary.", end: 4 } });
});

test("a saved state continues with its summary, and other contexts load its messages", async () => {
  const context = new SummaryChatCompletionContext({ tokenLimit: 20, keepLast: 1 });
  await run(agentWith(new Model("Yes.", "Short.", "Yes."), context), long("a", 10));
  await run(agentWith(new Model("Short.", "Yes."), context), long("b", 15));
  const state = context.saveState();
  const loaded = new SummaryChatCompletionContext({ tokenLimit: 20 });
  loaded.loadState(state);
  expect(shown(await loaded.getMessages())[0]).toBe("summary Short.");
  const other = new UnboundedChatCompletionContext();
  other.loadState(state);
  expect(await other.getMessages()).toHaveLength(4);
  loaded.loadState(other.saveState());
  expect(await loaded.getMessages()).toHaveLength(4);
  loaded.clear();
  expect(await loaded.getMessages()).toEqual([]);
});

test("a call is never apart from its result", async () => {
  const tool = new FunctionTool({
    name: "look",
    description: "Looks.",
    parameters: z.object({}),
    execute: () => Promise.resolve(long("result", 40)),
  });
  const model = new Model(call("look", {}), "A summary.", "Done.");
  const modelContext = new SummaryChatCompletionContext({ tokenLimit: 50, keepLast: 1 });
  const agent = new AssistantAgent({
    name: "a",
    modelClient: model,
    modelContext,
    tools: [tool],
    systemMessage: null,
    reflectOnToolUse: true,
  });
  await run(agent, long("question", 20));
  expect(model.read[2]?.map(({ type }) => type)).toEqual([
    "UserMessage",
    "AssistantMessage",
    "FunctionExecutionResultMessage",
  ]);
  expect(shown(model.read[2])[0]).toBe("summary A summary.");
});

test("the default limit is a share of the model's window", async () => {
  const model = new Model("Yes.", "A summary.", "Yes.");
  expect(model.contextWindow).toBe(10_000);
  const agent = agentWith(model, new SummaryChatCompletionContext({ keepLast: 1 }));
  await run(agent, long("a", 6900));
  expect(model.read).toHaveLength(1);
  await run(agent, long("b", 200));
  expect(shown(model.read[2])).toEqual(["summary A summary.", "UserMessage b"]);
});

test("a summary that fails leaves the messages unchanged, with a note", async () => {
  const broken = new Model();
  const context = new SummaryChatCompletionContext({
    modelClient: broken,
    tokenLimit: 20,
    keepLast: 1,
  });
  const model = new Model("Yes.", "Yes.");
  await run(agentWith(model, context), long("a", 15));
  const { text, notes } = await run(agentWith(model, context), long("b", 15));
  expect(text).toBe("Yes.");
  expect(notes).toEqual(["The conversation could not be summarised: the model has no answer left"]);
  expect(model.read[1]).toHaveLength(3);
});

test("messages that a model cannot read at once are summarised in parts", async () => {
  const summaries = new Model("one", "two", "three", "four", "five", "six");
  const modelContext = new SummaryChatCompletionContext({
    modelClient: summaries,
    tokenLimit: 100,
    keepLast: 1,
    initialMessages: Array.from({ length: 6 }, (_, index) => ({
      type: "UserMessage" as const,
      source: "user",
      content: long(`m${index}`, 4000),
    })),
  });
  await run(agentWith(new Model("Yes."), modelContext), "Now?");
  expect(summaries.read).toHaveLength(6);
  expect(summaries.read[5]?.[1]?.content).toMatch(/<summary-\w+>\nfive\n<\/summary/);
});

test("the context is loaded from component JSON and dumped unchanged, and bad configs name the field", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
  const model = {
    provider: "troupe.model_context.SummaryChatCompletionContext",
    component_type: "chat_completion_context",
    version: 1,
    component_version: 1,
    config: {
      model_client: dumpComponent(new ReplayChatCompletionClient(["A summary."])),
      token_limit: 1000,
      keep_last: 4,
      prompt: "Be short.",
    },
  };
  expect(dumpComponent(registry.load(model, "chat_completion_context"))).toEqual(model);
  expect(
    registry.validate({ ...model, config: { token_limit: 0 } }).map(({ path }) => path),
  ).toEqual(["component.config.token_limit"]);
});
