import { describe, expect, test } from "vitest";
import type { ActivityFrame, Message, TurnInfo } from "troupe/client";
import { Cards, type ConversationEntry, messagesIn } from "../../conversation/entries.ts";
import { doingOf, withPresent } from "../../conversation/live.ts";
import { numbersOf, speakersOf } from "../../conversation/numbers.ts";

let count = 0;
const made = (type: string, source: string, content: unknown): Message =>
  ({ id: `m${++count}`, type, source, content, models_usage: null, metadata: {} }) as never;
const said = (source: string, content = "Yes."): Message => made("TextMessage", source, content);
const thought = (source: string): Message => made("ThoughtEvent", source, "Hm.");
const asks = (source: string, id: string): Message =>
  made("ToolCallRequestEvent", source, [{ id, name: "find", arguments: '{"q": "sea"}' }]);
const gets = (source: string, call_id: string): Message =>
  made("ToolCallExecutionEvent", source, [
    { call_id, name: "find", content: "42", is_error: false },
  ]);

const shape = (entries: readonly ConversationEntry[]): unknown[] =>
  entries.map((entry) =>
    entry.kind === "card"
      ? [entry.source, ...messagesIn(entry).map(({ type }) => type)]
      : entry.kind,
  );

const step = (
  more: Partial<ActivityFrame["steps"][number]> = {},
): ActivityFrame["steps"][number] => ({
  agent: "ann",
  step: "ann/model:0",
  kind: "chat",
  name: "gpt-4o",
  call_id: null,
  attempt: 1,
  started_at: "2026-01-01T00:00:00.000Z",
  error: null,
  next_attempt_at: null,
  message_id: null,
  ...more,
});
const frame = (...steps: ActivityFrame["steps"]): ActivityFrame => ({
  run_id: "run",
  at: "2026-01-01T00:00:05.000Z",
  steps,
});
const RUNNING = { status: "running", next_attempt_at: null, error: null } as const;

describe("messages as cards", () => {
  test("are one for an agent's thoughts, tool calls and answer, also beside those of another agent", () => {
    const messages = [
      said("user"),
      thought("ann"),
      asks("ann", "a"),
      asks("bob", "b"),
      gets("bob", "b"),
      gets("ann", "a"),
      said("bob"),
      said("ann"),
      said("ann"),
    ];
    expect(shape(new Cards(messages).entries)).toEqual([
      ["user", "TextMessage"],
      ["ann", "ThoughtEvent", "ToolCallRequestEvent", "TextMessage"],
      ["bob", "ToolCallRequestEvent", "TextMessage"],
      ["ann", "TextMessage"],
    ]);
  });

  test("end with a task, and the choices of a manager stand between them", () => {
    const messages = [
      said("user"),
      thought("ann"),
      said("user"),
      made("SelectSpeakerEvent", "manager", ["ann"]),
      said("ann"),
    ];
    expect(shape(new Cards(messages).entries)).toEqual([
      ["user", "TextMessage"],
      ["ann", "ThoughtEvent"],
      ["user", "TextMessage"],
      "event",
      ["ann", "TextMessage"],
    ]);
  });

  test("keep their key from the first step to the answer, and two never share one", () => {
    const messages = [
      said("user"),
      thought("ann"),
      asks("ann", "a"),
      gets("ann", "a"),
      said("ann"),
    ];
    const now = { texts: [], activity: frame(step()), run: RUNNING, manager: undefined };
    const keys = messages.slice(1).map((_message, index) => {
      const cards = new Cards(messages.slice(0, index + 1));
      return withPresent(cards.entries, cards, now).entries.at(-1)?.key;
    });
    const { entries } = new Cards([...messages, said("ann"), said("user"), said("ann")]);
    expect(keys).toEqual(keys.map(() => entries[1]?.key));
    expect(new Set(entries.map(({ key }) => key)).size).toBe(entries.length);
  });

  test("keep their key when messages before them are loaded", () => {
    const messages = [
      said("ann"),
      said("bob"),
      thought("ann"),
      said("bob"),
      said("ann"),
      said("user"),
      said("bob"),
      said("bob"),
    ];
    const keysOf = (from: number, keys: Map<string, string>): string[] =>
      new Cards(messages.slice(from), { keys, hasEarlier: from > 0 }).entries.map(({ key }) => key);
    for (let from = messages.length - 1; from > 0; from--) {
      for (let before = from - 1; before >= 0; before--) {
        const keys = new Map<string, string>();
        const shown = keysOf(from, keys);
        const all = keysOf(before, keys);
        // A card that began before comes earlier in the list.
        expect(all).toEqual(expect.arrayContaining(shown));
        expect(new Set(all).size).toBe(all.length);
        expect(keysOf(before, keys)).toEqual(all);
      }
    }
  });
});

describe("the present activity", () => {
  const present = (messages: Message[], now: Partial<Parameters<typeof withPresent>[2]>) => {
    const cards = new Cards(messages);
    const all = { texts: [], activity: null, run: RUNNING, manager: undefined, ...now };
    const { entries, lines } = withPresent(cards.entries, cards, all);
    return { shown: shape(entries), lines: [...lines.values()].map(({ words }) => words) };
  };

  test("is a line per agent, in its card, from the first moment", () => {
    expect(present([said("user")], {})).toEqual({
      shown: [["user", "TextMessage"]],
      lines: ["Starting"],
    });
    const activity = frame(
      step(),
      step({ agent: "bob" }),
      step({ agent: "bob", step: "bob/tool:1" }),
    );
    expect(present([said("user"), thought("bob")], { activity })).toEqual({
      shown: [["user", "TextMessage"], ["bob", "ThoughtEvent"], ["ann"]],
      lines: ["Thinking", "Thinking"],
    });
  });

  test("is the manager's at the end, or in its own card if it speaks", () => {
    const activity = frame(step({ agent: null }));
    expect(present([said("user")], { activity })).toEqual({
      shown: [["user", "TextMessage"]],
      lines: ["Choosing who speaks next"],
    });
    expect(present([said("user")], { activity, manager: "boss" })).toEqual({
      shown: [["user", "TextMessage"], ["boss"]],
      lines: ["Thinking"],
    });
  });

  test("is empty once the run is idle or over", () => {
    const texts = [{ id: "t", source: "ann", content: "Half" }];
    const run = { ...RUNNING, status: "paused" } as const;
    expect(present([said("user")], { texts, run })).toEqual({
      shown: [["user", "TextMessage"], ["ann"]],
      lines: [],
    });
  });

  test.each([
    ["<think>hm", "Thinking"],
    ["<think>hm</think>Yes", "Writing"],
    ["Yes", "Writing"],
  ])("is shown for a text %s as %s", (content, words) => {
    const texts = [{ id: "t", source: "ann", content }];
    expect(present([said("user")], { texts, activity: frame(step()) }).lines).toEqual([words]);
  });

  const limit = { error: { type: "model_rate_limit", message: "slow down" }, next_attempt_at: "x" };
  test.each([
    [[step({ attempt: 2 })], { words: "Thinking, attempt 2", until: null }],
    [[step(limit)], { words: "Rate limited: attempt 2", detail: "slow down", until: "x" }],
    [
      [step({ ...limit, error: { type: "model_server", message: "503" } })],
      { words: "gpt-4o did not answer: attempt 2", detail: "503" },
    ],
    [[step(limit), step()], { words: "Thinking", until: null }],
    [[step({ kind: "step" })], { words: "Working" }],
    [
      [step({ kind: "execute_tool", name: "find", call_id: "a" })],
      { words: "Running find", detail: '{"q": "sea"}' },
    ],
    [
      ["a", "b", "c"].map((name) => step({ kind: "execute_tool", name })),
      { words: "Running a, b and 1 more", detail: "" },
    ],
  ])("is described for %j as %j", (steps, doing) => {
    const card = new Cards([said("user"), asks("ann", "a")]).openOf("ann");
    expect(doingOf(steps, card)).toMatchObject(doing);
  });
});

describe("the numbers of a card", () => {
  const models = { "gpt-4o": { prompt_tokens: 10, completion_tokens: 5, cost: 0.5 } };
  const worked = { agent: "ann", duration_ms: 900, thought_ms: 300, models, cost: 0.5 };
  const turnOf = (messages: Message[], agents = [worked]): ReadonlyMap<string, TurnInfo> =>
    new Map(
      messages.map(({ id }) => [
        id,
        { message_ids: messages.map((one) => one.id), agents } as unknown as TurnInfo,
      ]),
    );
  const cardsOf = (messages: Message[], agents?: (typeof worked)[]) =>
    new Cards(messages).entries.flatMap((entry) =>
      entry.kind === "card"
        ? [numbersOf(entry, turnOf(messages, agents), speakersOf(messages))]
        : [],
    );

  test("are those of its agent in its turn", () => {
    expect(cardsOf([thought("ann"), said("ann")])).toEqual([
      {
        models: ["gpt-4o"],
        tokens: { prompt_tokens: 10, completion_tokens: 5 },
        cost: 0.5,
        ms: 900,
        thoughtMs: 300,
      },
    ]);
  });

  test("are only the tokens of its messages if the agent spoke several times in the turn", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    const messages = [said("ann"), { ...said("ann"), models_usage: usage } as Message];
    expect(cardsOf(messages).map(({ tokens, ms }) => [tokens, ms])).toEqual([
      [undefined, null],
      [usage, null],
    ]);
  });
});
