import { describe, expect, test } from "vitest";
import {
  BufferedChatCompletionContext,
  Catalog,
  ComponentRegistry,
  HeadAndTailChatCompletionContext,
  ReplayChatCompletionClient,
  StateError,
  TokenLimitedChatCompletionContext,
  UnboundedChatCompletionContext,
  ValueError,
  coreComponents,
  dumpComponent,
} from "troupe";
import type { ChatCompletionContext, Json, LLMMessage } from "troupe";
import type { LogSource } from "#core/state/item-log.ts";
import { StateTree } from "#core/state/state-tree.ts";

const said = (content: string): LLMMessage => ({ content, source: "u", type: "UserMessage" });
const calls: LLMMessage = {
  content: [{ id: "1", name: "f", arguments: "{}" }],
  thought: null,
  source: "a",
  type: "AssistantMessage",
};
const results: LLMMessage = {
  content: [{ content: "r", name: "f", call_id: "1", is_error: false }],
  type: "FunctionExecutionResultMessage",
};
const numbered = (count: number): LLMMessage[] =>
  Array.from({ length: count }, (_, index) => said(String(index)));

function filled<C extends ChatCompletionContext>(context: C, messages: readonly LLMMessage[]): C {
  for (const message of messages) context.addMessage(message);
  return context;
}

const shown = async (context: ChatCompletionContext): Promise<unknown[]> =>
  (await context.getMessages()).map(({ content }) => content);

const limited = (tokenLimit: number | null): TokenLimitedChatCompletionContext =>
  new TokenLimitedChatCompletionContext({
    modelClient: new ReplayChatCompletionClient([]),
    tokenLimit,
  });

const headAndTail = (headSize: number, tailSize: number): HeadAndTailChatCompletionContext =>
  new HeadAndTailChatCompletionContext({ headSize, tailSize });

describe("the context of a model", () => {
  test("is unbounded and contains everything", async () => {
    expect(await shown(filled(new UnboundedChatCompletionContext(), numbered(3)))).toEqual([
      "0",
      "1",
      "2",
    ]);
  });

  test("is buffered and contains the last messages", async () => {
    expect(await shown(filled(new BufferedChatCompletionContext(2), numbered(5)))).toEqual([
      "3",
      "4",
    ]);
  });

  test("is buffered and contains no results without their calls", async () => {
    const context = filled(new BufferedChatCompletionContext(2), [calls, results, said("x")]);
    expect(await context.getMessages()).toEqual([said("x")]);
  });

  test("contains both ends and the number of messages between", async () => {
    expect(await shown(filled(headAndTail(1, 2), numbered(5)))).toEqual([
      "0",
      "Skipped 2 messages.",
      "3",
      "4",
    ]);
    expect(await shown(filled(headAndTail(1, 2), numbered(3)))).toEqual(["0", "1", "2"]);
  });

  test("contains no calls without results and no results without calls at the ends", async () => {
    const messages = [said("a"), calls, results, said("b"), calls, results, said("c")];
    expect(await shown(filled(headAndTail(2, 2), messages))).toEqual([
      "a",
      "Skipped 5 messages.",
      "c",
    ]);
  });

  test.each([
    [1, ["0"]],
    [2, ["0", "9"]],
    [5, ["0", "1", "2", "8", "9"]],
    [9, ["0", "1", "2", "3", "4", "6", "7", "8", "9"]],
    [10, ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]],
  ])("contains as much as fits %d tokens, without the middle", async (limit, expected) => {
    const context = filled(limited(limit), numbered(10));
    expect(await shown(context)).toEqual(expected);
  });

  test("contains the last message if not even one fits", async () => {
    const messages = [said("two words"), said("three more words")];
    expect(await shown(filled(limited(1), messages))).toEqual(["three more words"]);
  });

  test("contains as much as the model's client has room for, without a limit", async () => {
    expect(await shown(filled(limited(null), numbered(4)))).toEqual(["0", "1", "2", "3"]);
  });
});

describe("initial messages", () => {
  const context = (): BufferedChatCompletionContext =>
    new BufferedChatCompletionContext(3, [said("i"), said("j")]);

  test("come first", async () => {
    expect(await shown(filled(context(), numbered(2)))).toEqual(["j", "0", "1"]);
  });

  test("are gone after clearing, and stay in the config", async () => {
    const cleared = context();
    cleared.clear();
    expect(await shown(filled(cleared, numbered(1)))).toEqual(["0"]);
    expect(cleared.toConfig().initial_messages).toHaveLength(2);
  });

  test("are dumped without empty fields", () => {
    const thought: LLMMessage = {
      content: "x",
      thought: null,
      source: "a",
      type: "AssistantMessage",
    };
    expect(new UnboundedChatCompletionContext([thought]).toConfig()).toStrictEqual({
      initial_messages: [{ content: "x", source: "a", type: "AssistantMessage" }],
    });
  });

  test("are part of the state and replaced by another", async () => {
    const state = filled(context(), numbered(1)).saveState();
    expect(state).toEqual({ messages: [said("i"), said("j"), said("0")] });
    const other = filled(context(), numbered(9));
    other.loadState(state);
    expect(await shown(other)).toEqual(["i", "j", "0"]);
  });

  test("survive a restart, and so does having been cleared", async () => {
    for (const [clear, expected] of [
      [false, ["j", "0", "1"]],
      [true, ["0", "1"]],
    ] as const) {
      const before = context();
      const tree = new StateTree(before);
      if (clear) before.clear();
      filled(before, numbered(2));
      const { heads, logs } = tree.changes();
      const after = context();
      new StateTree(after).restore({
        head: (path) => heads.find((head) => head.path === path)?.value,
        log: (path) => {
          const log = logs.find((changed) => changed.path === path);
          return log && source(log.items as LLMMessage[], log.generation);
        },
      });
      expect(await shown(after)).toEqual(expected);
    }
  });
});

describe("a long context in storage", () => {
  const restored = <C extends ChatCompletionContext>(
    context: C,
  ): { context: C; read: () => number } => {
    const stored = source(numbered(100_000));
    new StateTree(context).restore({ head: () => undefined, log: () => stored });
    return { context, read: () => stored.itemsRead };
  };

  test.each([
    ["buffered", new BufferedChatCompletionContext(3), 3],
    ["head and tail", headAndTail(2, 3), 6],
    ["token limited", limited(10), 100],
  ])("is read only as far as needed: %s", async (_, fresh, atMost) => {
    const { context, read } = restored(fresh);
    const messages = await context.getMessages();
    expect(messages.at(-1)).toEqual(said("99999"));
    expect(read()).toBeLessThanOrEqual(atMost);
  });
});

describe("state and config", () => {
  test.each([{ messages: [{ type: "Nothing" }] }, { messages: "none" }])(
    "a state that does not fit changes nothing: %o",
    async (state: { [key: string]: Json }) => {
      const context = filled(new UnboundedChatCompletionContext(), numbered(1));
      expect(() => context.loadState(state)).toThrow(StateError);
      expect(await shown(context)).toEqual(["0"]);
    },
  );

  test.each([
    () => new BufferedChatCompletionContext(0),
    () => headAndTail(0, 1),
    () => headAndTail(1, 0),
    () => limited(-1),
  ])("have sizes above 0", (make) => {
    expect(make).toThrow(ValueError);
  });

  test("come back from component JSON", () => {
    const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
    for (const context of [
      new UnboundedChatCompletionContext([said("x")]),
      new BufferedChatCompletionContext(2, [said("x")]),
      headAndTail(1, 2),
      limited(5),
      limited(null),
    ]) {
      const dump = dumpComponent(context);
      expect(dumpComponent(registry.load(dump, "chat_completion_context"))).toEqual(dump);
    }
  });
});

function source(items: LLMMessage[], generation = 0): LogSource<unknown> & { itemsRead: number } {
  return {
    generation,
    length: items.length,
    itemsRead: 0,
    read(from, to) {
      this.itemsRead += to - from;
      return items.slice(from, to);
    },
  };
}
