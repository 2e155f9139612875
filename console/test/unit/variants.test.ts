import type { Message, ThreadMessage } from "troupe/client";
import { expect, test } from "vitest";
import {
  answerIn,
  differingAgent,
  durationIn,
  turnOf,
  variedIn,
} from "../../playground/variants.ts";

const model = { provider: "x.OpenAIChatCompletionClient", config: { model: "m" } };
const agent = (name: string, config: object = {}) => ({
  provider: "x.AssistantAgent",
  config: { name, model_client: model, ...config },
});
const human = { provider: "x.UserProxyAgent", config: { name: "human" } };

test("agents with a prompt or a model can be varied, and a manager with a model", () => {
  const selector = {
    provider: "x.SelectorGroupChat",
    config: { participants: [agent("a"), human], model_client: model, selector_prompt: "Who?" },
  };
  const [a, manager, ...rest] = variedIn(selector);
  expect(rest).toEqual([]);
  expect(a).toMatchObject({ name: "a", prompt: expect.arrayContaining(["system_message"]) });
  expect(manager).toMatchObject({
    prompt: ["config", "selector_prompt"],
    model: ["config", "model_client"],
  });
  expect(variedIn(agent("alone"))).toMatchObject([{ name: "alone", path: [] }]);
  const ring = { provider: "x.RoundRobinGroupChat", config: { participants: [human] } };
  expect(variedIn(ring)).toEqual([]);
});

test("the agent in which the forks of an address differ is found again", () => {
  const team = (prompt: string) => ({
    provider: "x.RoundRobinGroupChat",
    config: { participants: [agent("a"), agent("b", { system_message: prompt })] },
  });
  const varied = variedIn(team("one"));
  expect(differingAgent(varied, [team("one"), team("two")])).toBe(1);
  expect(differingAgent(varied, [team("one"), team("one")])).toBe(0);
});

test("forks begin before the last task, after the whole conversation, or without one", () => {
  const last = { turn: 5 } as ThreadMessage;
  expect(turnOf("last", last, 9)).toBe(4);
  expect(turnOf("now", last, 9)).toBe(9);
  expect(turnOf("empty", last, 9)).toBe(0);
  expect(turnOf("last", undefined, 9)).toBe(9);
  expect(turnOf("last", { turn: 0 } as ThreadMessage, 9)).toBe(0);
});

test("the answer is the last text that is not an event", () => {
  const message = (type: string, content: unknown) => ({ type, content }) as Message;
  expect(
    answerIn([
      message("TextMessage", "first"),
      message("TextMessage", "last"),
      message("ThoughtEvent", "hm"),
    ]),
  ).toBe("last");
  expect(answerIn([message("MultiModalMessage", [])])).toBeUndefined();
});

test("a run lasts until its end, or until the present", () => {
  const started_at = "2026-01-01T00:00:00Z";
  const start = Date.parse(started_at);
  expect(durationIn({ started_at, ended_at: "2026-01-01T00:00:02Z" }, start + 9_000)).toBe(2_000);
  expect(durationIn({ started_at, ended_at: null }, start + 9_000)).toBe(9_000);
  expect(durationIn({ started_at: null, ended_at: null }, start)).toBeUndefined();
});
