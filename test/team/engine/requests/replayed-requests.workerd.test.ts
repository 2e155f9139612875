import { expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import { script } from "../../support/scripted-agent.ts";
import { agent, roundRobin, TestTeam, value } from "../../support/team.ts";
import type { Result } from "#contract/result.ts";
import type { ModelRequest } from "#contract/team/model-request.ts";

// In one turn of the team, an agent with code of its own speaks before the models of two assistants are called.

const assistant = (name: string): ComponentModel => ({
  provider: "AssistantAgent",
  config: {
    name,
    model_client: {
      provider: "ReplayChatCompletionClient",
      config: { chat_completions: [`This is ${name}.`], cycle: true },
    },
  },
});

/** Such a team. */
function newTeam(own: ComponentModel): Promise<TestTeam> {
  const inner = roundRobin([own, assistant("ann")], 2);
  const { model_client = null } = assistant("society").config;
  const society = { name: "society", team: inner, model_client };
  return TestTeam.create(roundRobin([{ provider: "SocietyOfMindAgent", config: society }], 1));
}

/** A run of a team, and what shows the request of a model call. */
async function runOf(
  team: TestTeam,
): Promise<{ show(name: string): Promise<Result<ModelRequest>> }> {
  const { id } = await team.finished((await team.start("go")).id);
  const { spans } = await team.trace(id);
  return {
    show(name) {
      const span = spans.find(({ kind, agent: speaker }) => kind === "chat" && speaker === name);
      return team.gateway.modelRequest(id, span?.span_id ?? "");
    },
  };
}

test("steps of a custom agent are not run again, and code outside of them is", async () => {
  const calls: string[] = [];
  const own = agent("own", async function* (_self, ctx) {
    yield* [];
    calls.push("outside");
    return ctx.step("effect", () => {
      calls.push("step");
      return Promise.resolve("The result.");
    });
  });
  const { show } = await runOf(await newTeam(own));
  expect(calls).toEqual(["outside", "step"]);
  const shown = value(await show("ann"));
  expect(shown).toMatchObject({ matches: true, reply: { content: "This is ann." } });
  expect(shown.messages.at(-1)).toMatchObject({ content: "The result." });
  expect(calls).toEqual(["outside", "step", "outside"]);
});

test("code that makes another request since shows it, marked as different", async () => {
  let version = 1;
  const own = agent("own", async function* (_self, ctx) {
    yield* [];
    const fingerprint = `version ${version}`;
    const result = await ctx.step("effect", () => Promise.resolve("result"), { fingerprint });
    return `${result} of version ${version}`;
  });
  const { show } = await runOf(await newTeam(own));
  version = 2;
  const shown = value(await show("ann"));
  expect(shown.matches).toBe(false);
  expect(shown.messages.at(-1)).toMatchObject({ content: "result of version 2" });
});

test("a long result that is the same in every turn is stored by the first of them", async () => {
  let effects = 0;
  const own = agent("own", async function* (_self, ctx) {
    yield* [];
    const list = await ctx.step("list", () => {
      effects++;
      return Promise.resolve(Array.from({ length: 500 }, (_, n) => `The tool ${n}.`));
    });
    return `The last one: ${list.at(-1)}`;
  });
  const team = await newTeam(own);
  const runs = [await runOf(team), await runOf(team), await runOf(team)];
  await team.evict();
  runs.push(await runOf(team), await runOf(team));
  const rows = await team.sql<{ size: number }>(
    "select length(steps) as size from head where steps is not null order by turn",
  );
  // An object that was loaded again stores it once more.
  expect(rows.map(({ size }) => size > 5_000)).toEqual([true, false, false, true, false]);
  expect(Math.max(...rows.map(({ size }) => size).filter((size) => size <= 5_000))).toBeLessThan(
    900,
  );
  await team.evict();
  for (const { show } of runs) {
    const shown = value(await show("ann"));
    expect(shown.matches).toBe(true);
    expect(shown.messages.at(-1)).toMatchObject({ content: "The last one: The tool 499." });
  }
  expect(effects).toBe(runs.length);
});

test("a request is not shown when the code no longer reaches the call", async () => {
  script("changing", async function* () {
    yield* [];
    return "first";
  });
  const own = { provider: "test.ScriptedAgent", config: { name: "own", script: "changing" } };
  const { show } = await runOf(await newTeam(own));
  const refused = {
    ok: false,
    problem: { status: 410, code: "request_not_known", detail: expect.stringMatching(/\.$/) },
  };
  script("changing", async function* (_self, ctx) {
    yield* [];
    return ctx.step("new", () => Promise.reject(new TypeError("this step must not run")));
  });
  expect(await show("ann")).toMatchObject(refused);
  script("changing", () => {
    throw new TypeError("broken");
  });
  expect(await show("ann")).toMatchObject(refused);
});
