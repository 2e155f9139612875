import * as fc from "fast-check";
import { expect, test } from "vitest";
import {
  AssistantAgent,
  BufferedChatCompletionContext,
  type ChatCompletionContext,
  HeadAndTailChatCompletionContext,
  type LLMMessage,
  ReplayChatCompletionClient,
  run,
  SummaryChatCompletionContext,
  TokenLimitedChatCompletionContext,
  UnboundedChatCompletionContext,
  WindowChatCompletionContext,
} from "troupe";
import { loneParts } from "../../support/lone-parts.ts";

const said = (content: string, source = "user"): LLMMessage => ({
  type: "UserMessage",
  content,
  source,
});
const answered = (content: string): LLMMessage => ({
  type: "AssistantMessage",
  content,
  source: "a",
  thought: null,
});
const calls = (...ids: string[]): LLMMessage => ({
  type: "AssistantMessage",
  content: ids.map((id) => ({ id, name: "f", arguments: "{}" })),
  source: "a",
  thought: null,
});
const results = (...ids: string[]): LLMMessage => ({
  type: "FunctionExecutionResultMessage",
  content: ids.map((id) => ({ call_id: id, name: "f", content: "some words", is_error: false })),
});

const ids = fc.array(fc.constantFrom("1", "2", "3", ""), { maxLength: 3 });
const text = fc.constantFrom("one", "two words", "a text of five words");
/** Well-formed turns; the results of parallel calls in one message or in one each. */
const exchange = fc
  .tuple(fc.uniqueArray(fc.constantFrom("1", "2", "3"), { minLength: 1 }), fc.boolean())
  .map(([own, together]) => [
    calls(...own),
    ...(together ? [results(...own)] : own.map((id) => results(id))),
  ]);
const turn = fc.oneof(
  text.map((content) => [said(content)]),
  text.map((content) => [answered(content)]),
  exchange,
);
const damage = fc.oneof(
  ids.map((own) => [calls(...own)]),
  ids.map((own) => [results(...own)]),
);
const whole = fc.array(turn, { maxLength: 12 }).map((turns) => turns.flat());
const damaged = fc.array(fc.oneof(turn, damage), { maxLength: 12 }).map((turns) => turns.flat());
const size = fc.integer({ min: 1, max: 12 });

const tokens = new ReplayChatCompletionClient([]);
const contexts: { [kind: string]: (size: number, other: number) => ChatCompletionContext } = {
  unbounded: () => new UnboundedChatCompletionContext(),
  buffered: (most) => new BufferedChatCompletionContext(most),
  "head and tail": (headSize, tailSize) =>
    new HeadAndTailChatCompletionContext({ headSize, tailSize }),
  "token limited": (tokenLimit, other) =>
    new TokenLimitedChatCompletionContext({
      modelClient: tokens,
      tokenLimit: tokenLimit * other,
    }),
  window: (low, other) => new WindowChatCompletionContext({ low, high: low + other }),
};

function filled<C extends ChatCompletionContext>(context: C, messages: readonly LLMMessage[]): C {
  for (const message of messages) context.addMessage(message);
  return context;
}

const note = ({ content }: LLMMessage): number | undefined => {
  const found = typeof content === "string" && /^Skipped (\d+) messages\.$/.exec(content)?.[1];
  return found ? Number(found) : undefined;
};

test.each(Object.entries(contexts))(
  "a context tears no call from its results: %s",
  async (_, make) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(whole, damaged), size, size, async (history, first, second) => {
        const context = filled(make(first, second), history);
        const shown = await context.getMessages();
        expect(loneParts(shown)).toEqual([]);
        // What is shown is of the history, and the note counts the rest.
        const kept = shown.filter((message) => note(message) === undefined);
        const left = shown.map(note).find((count) => count !== undefined);
        if (left !== undefined) expect(left).toBe(history.length - kept.length);
        // No request is empty where the history has a message that can be sent.
        const sendable = await filled(new UnboundedChatCompletionContext(), history).getMessages();
        if (sendable.length > 0) expect(kept.length).toBeGreaterThan(0);
        // Nor does a restart change what is shown.
        const again = make(first, second);
        again.loadState(context.saveState());
        expect(loneParts(await again.getMessages())).toEqual([]);
      }),
      { numRuns: 400 },
    );
  },
);

test.each(Object.entries(contexts))(
  "calls without an answer so far stay whole: %s",
  async (_, make) => {
    await fc.assert(
      fc.asyncProperty(whole, exchange, size, size, async (history, last, first, second) => {
        const shown = await filled(make(first, second), [...history, ...last]).getMessages();
        expect(shown.slice(-last.length)).toEqual(last);
      }),
      { numRuns: 200 },
    );
  },
);

test("a well-formed history is shown with the very same messages", async () => {
  await fc.assert(
    fc.asyncProperty(whole, async (history) => {
      const shown = await filled(new UnboundedChatCompletionContext(), history).getMessages();
      expect(shown).toHaveLength(history.length);
      shown.forEach((message, index) => expect(message).toBe(history[index]));
    }),
  );
});

test("the calls with results of a damaged exchange stay", async () => {
  const context = filled(new UnboundedChatCompletionContext(), [
    said("go"),
    calls("1", "2"),
    results("2", "9"),
    results("3"),
    answered("ok"),
  ]);
  expect(await context.getMessages()).toEqual([
    said("go"),
    calls("2"),
    results("2"),
    answered("ok"),
  ]);
});

/** A program's own context, which shows the last two messages. */
class LastTwo extends UnboundedChatCompletionContext {
  override getMessages(): Promise<LLMMessage[]> {
    return Promise.resolve(this.slice(-2));
  }
}

test.each([
  ["a program's own", () => new LastTwo()],
  ["with a summary", () => new SummaryChatCompletionContext({ tokenLimit: 20, keepLast: 2 })],
])("a request of an agent never has a call or a result alone: %s", async (_, make) => {
  const model = new ReplayChatCompletionClient(["a summary"], { cycle: true });
  const modelContext = make();
  const agent = new AssistantAgent({ name: "a", modelClient: model, modelContext });
  for (const history of [
    [calls("1"), results("1")],
    [calls("1", "2"), results("1"), results("2")],
    [results("7"), calls("8")],
  ]) {
    modelContext.clear();
    filled(modelContext, [
      said("a question of many words, so that the limit is reached"),
      ...history,
    ]);
    await run(agent, { task: "and now?" });
  }
  expect(model.calls.length).toBeGreaterThanOrEqual(3);
  for (const { messages } of model.calls) expect(loneParts(messages)).toEqual([]);
});
