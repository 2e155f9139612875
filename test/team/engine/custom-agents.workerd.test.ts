import { describe, expect, test } from "vitest";
import type { ComponentModel, Json, JsonObject } from "troupe";
import { roundRobin, TestTeam, texts, value } from "../support/team.ts";

const component = (provider: string, config: JsonObject): ComponentModel => ({ provider, config });
const tally = component("test.TallyAgent", { name: "tally" });
const filtered = component("MessageFilterAgent", {
  name: "filtered",
  wrapped_agent: tally,
  filter: { per_source: [{ source: "user" }] },
});
const inner = (agent: ComponentModel): ComponentModel => ({
  provider: "RoundRobinGroupChat",
  config: { ...roundRobin([agent], 1).config, name: "inner" },
});

/** What the agent says last in a run. */
async function said(team: TestTeam, task: string): Promise<Json> {
  const run = await team.finished((await team.start(task)).id);
  if (run.status !== "completed") return run.status;
  return JSON.parse(String(texts(run).at(-1))) as Json;
}

describe.each<[string, ComponentModel]>([
  ["alone", tally],
  ["in a team", roundRobin([tally], 1)],
  ["in a message filter", filtered],
  ["in a message filter in a team in a team", roundRobin([inner(filtered)], 1)],
])("a custom agent with state, %s", (_where, model) => {
  test("remembers it when the object was unloaded", async () => {
    const team = await TestTeam.create(model);
    expect(await said(team, "hello")).toEqual({ hello: 1 });
    await team.evict();
    expect(await said(team, "hello")).toEqual({ hello: 2 });
  });

  test("loses the changes of a turn that failed", async () => {
    const team = await TestTeam.create(model);
    await said(team, "hello");
    expect(await said(team, "fail")).toBe("failed");
    // In a team the task stands in the thread already; the agent hears it, and fails, again.
    const state = JSON.stringify(value(await team.gateway.saveState()));
    expect(state).toContain('"tally":{"hello":1}');
  });

  test("takes it to another team, and starts over after a reset", async () => {
    const team = await TestTeam.create(model);
    await said(team, "hello");
    const state = value(await team.gateway.saveState());
    const other = await TestTeam.create(model);
    value(await other.gateway.loadState(state));
    await other.evict();
    expect(value(await other.gateway.saveState())).toEqual(state);
    expect(await said(other, "hello")).toEqual({ hello: 2 });
    value(await other.gateway.reset());
    await other.evict();
    expect(await said(other, "hello")).toEqual({ hello: 1 });
  });
});

test("a society of mind keeps its requests, and the state of its team while it works", async () => {
  const replay = (...replies: string[]): Json =>
    component("ReplayChatCompletionClient", { chat_completions: replies });
  const human = component("UserProxyAgent", { name: "human" });
  const mind = component("SocietyOfMindAgent", {
    name: "mind",
    team: component("RoundRobinGroupChat", { participants: [tally, human], max_turns: 2 }),
    model_client: replay("one", "two"),
  });
  const team = await TestTeam.create(mind);
  for (const [task, answer] of [
    ["first", "one"],
    ["second", "two"],
  ] as const) {
    const { id } = await team.start(task);
    const waiting = await team.rested(id);
    expect(waiting.status).toBe("waiting");
    await team.evict();
    const [request] = waiting.requests;
    value(await team.gateway.answer(id, request!.id, { content: "go on" }));
    const run = await team.finished(id);
    const inside = task === "first" ? '{"first":1}' : '{"relevant previous messages":1,"second":1}';
    expect(texts(run)).toEqual([task, inside, "", "go on", answer]);
  }
  expect(value(await team.gateway.saveState())).toMatchObject({
    troupe: { llm_context: { messages: [{ content: "first" }, { content: "second" }] } },
  });
});
