import { describe, expect, test } from "vitest";
import {
  AndTermination,
  Catalog,
  ComponentRegistry,
  ExternalTermination,
  FunctionCallTermination,
  FunctionalTermination,
  HandoffTermination,
  MaxMessageTermination,
  OrTermination,
  SourceMatchTermination,
  StopMessageTermination,
  TextMentionTermination,
  TextMessageTermination,
  TimeoutTermination,
  TokenUsageTermination,
  coreComponents,
  dumpComponent,
  loadMessage,
} from "troupe";
import type { Json, JsonObject, Message, TerminationCondition } from "troupe";
import { ORIGIN, text } from "../support/agents.ts";

/** A condition with its state, as a chat keeps it. The state goes through JSON, as storage does. */
class Kept {
  readonly condition: TerminationCondition;
  state: Json;

  constructor(condition: TerminationCondition) {
    this.condition = condition;
    this.state = condition.initialState();
  }

  check(delta: Message[], elapsedMs = 0): string | undefined {
    const { state, stop } = this.condition.check(this.state, delta, { elapsedMs });
    this.state = this.condition.parseState(JSON.parse(JSON.stringify(state)));
    return stop && `${stop.source}: ${stop.content}`;
  }
}

const user = (content: string): Message => text("user", content, ORIGIN);
const message = (fields: {
  type: string;
  source?: string;
  [key: string]: Json | undefined;
}): Message => loadMessage({ source: "ann", ...fields }, ORIGIN);

describe("MaxMessageTermination", () => {
  test("counts chat messages over several looks", () => {
    const kept = new Kept(new MaxMessageTermination(3));
    expect(
      kept.check([user("a"), message({ type: "ThoughtEvent", content: "hm" })]),
    ).toBeUndefined();
    expect(kept.check([user("b"), user("c"), user("d")])).toBe(
      "MaxMessageTermination: Maximum number of messages 3 reached, current message count: 4",
    );
  });

  test("counts events if configured to", () => {
    const kept = new Kept(new MaxMessageTermination(2, { includeAgentEvent: true }));
    expect(kept.check([user("a"), message({ type: "ThoughtEvent", content: "hm" })])).toContain(
      "current message count: 2",
    );
  });
});

describe("TextMentionTermination", () => {
  test("TextMentionTermination", () => {
    expect(new Kept(new TextMentionTermination("END")).check([user("the END.")])).toBe(
      "TextMentionTermination: Text 'END' mentioned",
    );
    expect(
      new Kept(new TextMentionTermination("END")).check([
        message({ type: "ThoughtEvent", content: "END?" }),
      ]),
    ).toBe("TextMentionTermination: Text 'END' mentioned");
    expect(new Kept(new TextMentionTermination("END")).check([user("the end")])).toBeUndefined();
  });

  test("looks only at messages of its sources", () => {
    const kept = new Kept(new TextMentionTermination("END", { sources: ["ann"] }));
    expect(kept.check([user("END")])).toBeUndefined();
    expect(kept.check([text("ann", "END", ORIGIN)])).toBeDefined();
  });
});

describe("TokenUsageTermination", () => {
  const used = (prompt_tokens: number, completion_tokens: number): Message => ({
    ...text("ann", "x", ORIGIN),
    models_usage: { prompt_tokens, completion_tokens },
  });

  test.each([
    ["total", { maxTotalToken: 10 }],
    ["prompt", { maxPromptToken: 8 }],
    ["completion", { maxCompletionToken: 2 }],
  ])("adds up to the %s limit", (_, limits) => {
    const kept = new Kept(new TokenUsageTermination(limits));
    expect(kept.check([used(4, 1), user("unused")])).toBeUndefined();
    expect(kept.check([used(4, 1)])).toBe(
      "TokenUsageTermination: Token usage limit reached, total token count: 10, prompt token count: 8, completion token count: 2.",
    );
  });

  test("needs a limit", () => {
    expect(() => new TokenUsageTermination({})).toThrow(/max_total_token/);
  });
});

describe("TimeoutTermination", () => {
  test("fires when the run has lasted that long, and prints a float", () => {
    const kept = new Kept(new TimeoutTermination(2));
    expect(kept.check([], 1999)).toBeUndefined();
    expect(kept.check([], 2000)).toBe("TimeoutTermination: Timeout of 2.0 seconds reached");
    expect(new Kept(new TimeoutTermination(0.5)).check([], 500)).toContain("0.5 seconds");
  });
});

describe("ExternalTermination", () => {
  test("fires once after a user pressed it, and after a reset only when pressed again", () => {
    const condition = new ExternalTermination();
    const kept = new Kept(condition);
    expect(kept.check([])).toBeUndefined();
    condition.set();
    expect(kept.check([])).toBe("ExternalTermination: External termination requested");
    kept.state = condition.reset();
    expect(kept.check([])).toBeUndefined();
  });

  test("forgets a press that was not seen yet at a reset", () => {
    const condition = new ExternalTermination();
    condition.set();
    condition.reset();
    expect(new Kept(condition).check([])).toBeUndefined();
  });
});

describe("a condition on single messages", () => {
  const handoff = message({ type: "HandoffMessage", content: "to you", target: "user" });
  const executed = message({
    type: "ToolCallExecutionEvent",
    content: [{ content: "1", name: "add", call_id: "1", is_error: false }],
  });
  const stop = message({ type: "StopMessage", content: "enough" });

  test.each<[TerminationCondition, Message, string]>([
    [new StopMessageTermination(), stop, "StopMessageTermination: Stop message received"],
    [
      new HandoffTermination("user"),
      handoff,
      "HandoffTermination: Handoff to user from ann detected.",
    ],
    [new SourceMatchTermination(["bob", "ann"]), stop, "SourceMatchTermination: 'ann' answered"],
    [
      new TextMessageTermination(),
      user("hi"),
      "TextMessageTermination: Text message received from 'user'",
    ],
    [
      new TextMessageTermination("user"),
      user("hi"),
      "TextMessageTermination: Text message received from 'user'",
    ],
    [
      new FunctionCallTermination("add"),
      executed,
      "FunctionCallTermination: Function 'add' was executed.",
    ],
    [
      new FunctionalTermination((delta) => delta.length > 0),
      stop,
      "FunctionalTermination: Functional termination condition met",
    ],
  ])("%o fires", (condition, trigger, expected) => {
    const kept = new Kept(condition);
    expect(kept.check([])).toBeUndefined();
    expect(kept.check([trigger])).toBe(expected);
    expect(condition.terminated(kept.state)).toBe(true);
    expect(() => kept.check([])).toThrow(expect.objectContaining({ code: "already_terminated" }));
    kept.state = condition.reset();
    expect(kept.check([trigger])).toBe(expected);
  });

  test.each<[TerminationCondition, Message]>([
    [new StopMessageTermination(), user("stop")],
    [new HandoffTermination("bob"), handoff],
    [new SourceMatchTermination(["bob"]), stop],
    [new TextMessageTermination(), stop],
    [new TextMessageTermination("bob"), user("hi")],
    [new FunctionCallTermination("subtract"), executed],
    [new FunctionalTermination(() => false), stop],
  ])("%o does not fire", (condition, other) => {
    expect(new Kept(condition).check([other])).toBeUndefined();
  });

  test("a functional condition is written as JSON by the name of its function", () => {
    const functions = new Catalog();
    functions.registerFunction("short_enough", (delta: readonly Message[]) => delta.length < 2);
    const registry = new ComponentRegistry({ functions }).register(FunctionalTermination.component);
    const model = {
      provider: "autogen_agentchat.conditions.FunctionalTermination",
      component_type: "termination",
      version: 1,
      component_version: 1,
      config: { func: "short_enough" },
    };
    expect(registry.validate({ ...model, config: {} })).toEqual([
      { path: "component.config.func", message: expect.stringContaining("registerFunction") },
    ]);
    const condition = registry.load<FunctionalTermination>(model, "termination");
    expect(dumpComponent(condition)).toEqual(model);
    expect(new Kept(condition).check([stop, stop])).toBeUndefined();
    expect(new Kept(condition).check([stop])).toContain("Functional termination");
  });

  test("a functional condition whose function has no name cannot be written as JSON", () => {
    expect(() => new FunctionalTermination(() => true).toConfig()).toThrow(
      expect.objectContaining({ code: "not_serializable" }),
    );
  });
});

describe("a condition that cannot work", () => {
  const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));

  test.each<[name: string, make: () => TerminationCondition, config: JsonObject, path?: string]>([
    ["MaxMessageTermination", () => new MaxMessageTermination(0), { max_messages: 0 }],
    ["MaxMessageTermination", () => new MaxMessageTermination(-3), { max_messages: -3 }],
    [
      "TokenUsageTermination",
      () => new TokenUsageTermination({ maxTotalToken: 0 }),
      { max_total_token: 0 },
    ],
    [
      "TokenUsageTermination",
      () => new TokenUsageTermination({ maxPromptToken: 9, maxCompletionToken: -1 }),
      { max_prompt_token: 9, max_completion_token: -1 },
      "max_completion_token",
    ],
    ["TimeoutTermination", () => new TimeoutTermination(0), { timeout_seconds: 0 }],
    ["TimeoutTermination", () => new TimeoutTermination(-0.5), { timeout_seconds: -0.5 }],
    ["TextMentionTermination", () => new TextMentionTermination(""), { text: "" }],
    [
      "TextMentionTermination",
      () => new TextMentionTermination("x", { sources: [] }),
      { text: "x", sources: [] },
      "sources",
    ],
    ["SourceMatchTermination", () => new SourceMatchTermination([]), { sources: [] }],
    ["FunctionCallTermination", () => new FunctionCallTermination(""), { function_name: "" }],
    ["HandoffTermination", () => new HandoffTermination(""), { target: "" }],
    ["AndTermination", () => new AndTermination(), { conditions: [] }],
    ["OrTermination", () => new OrTermination(), { conditions: [] }],
  ])("%s is refused if it is new, and loaded if it is stored", (name, make, config, key) => {
    const path = key ?? Object.keys(config)[0] ?? "";
    const mistake = expect.stringMatching(/^must /);
    expect(make).toThrow(
      expect.objectContaining({
        code: "invalid_value",
        message: expect.stringContaining(`Invalid ${name}: ${path}: `),
        issues: [{ path, message: mistake }],
      }),
    );
    const provider = name.replace(/^(And|Or)Termination$/, "$&Condition");
    const issue = { path: `component.config.${path}`, message: mistake };
    expect(registry.validate({ provider, config })).toEqual([issue]);
    expect(registry.notes({ provider, config })).toEqual([issue]);
    const stored = registry.load<TerminationCondition>({ provider, config });
    expect(stored.toConfig()).toMatchObject(config);
  });

  test.each([NaN, Infinity, 2.5])(
    "has numbers that JSON or AutoGen does not accept and is refused: %s",
    (number) => {
      expect(() => new MaxMessageTermination(number)).toThrow(
        /max_messages: must be a whole number/,
      );
      expect(() => new TokenUsageTermination({ maxTotalToken: number })).toThrow(/max_total_token/);
      if (number !== 2.5) expect(() => new TimeoutTermination(number)).toThrow(/timeout_seconds/);
    },
  );
});

describe("combined conditions", () => {
  test("that are joined by `and` remember which fired first, and join in that order", () => {
    const kept = new Kept(new MaxMessageTermination(2).and(new TextMentionTermination("DONE")));
    expect(kept.check([user("DONE")])).toBeUndefined();
    expect(kept.check([user("x")])).toBe(
      "TextMentionTermination, MaxMessageTermination: Text 'DONE' mentioned, Maximum number of messages 2 reached, current message count: 2",
    );
    expect(() => kept.check([user("x")])).toThrow(/fired already/);
  });

  test("that are joined by `or` join those that fire together and count as fired when one has", () => {
    const kept = new Kept(new MaxMessageTermination(2).or(new TextMentionTermination("DONE")));
    expect(kept.check([user("x")])).toBeUndefined();
    expect(kept.check([user("DONE")])).toBe(
      "MaxMessageTermination, TextMentionTermination: Maximum number of messages 2 reached, current message count: 2, Text 'DONE' mentioned",
    );
    expect(() => kept.check([user("x")])).toThrow(/fired already/);
    kept.state = kept.condition.reset();
    expect(kept.check([user("DONE")])).toBe("TextMentionTermination: Text 'DONE' mentioned");
  });

  test("refuse a state of another condition", () => {
    const or = new MaxMessageTermination(2).or(new TextMentionTermination("DONE"));
    for (const state of [null, { states: [] }, { states: [{ count: 1 }, { count: 1 }] }]) {
      expect(() => or.parseState(state)).toThrow(
        expect.objectContaining({ code: "invalid_state" }),
      );
    }
  });
});
