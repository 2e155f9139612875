import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import type { ComponentModel } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { assistant as replayAssistant } from "../../support/assistants.ts";
import { KINDS } from "../../support/kinds.ts";
import { undisturbed } from "../../support/outcome.ts";
import { modelCall, thought } from "../../support/scripted-agent.ts";
import { agent, roundRobin, Signal, TestTeam, value } from "../../support/team.ts";
import { tenantStub } from "../../support/tenant.ts";

const USAGE = { prompt_tokens: 5, completion_tokens: 2 };
const PRICED = { model: "priced" };
/** One call of the model "priced", whose tokens cost 1 in and 2 out, with {@link USAGE}. */
const ONE_CALL = calls(1);

/** The usage of a run that made this many such calls. */
function calls(count: number): Pick<RunInfo, "usage" | "cost" | "models"> {
  const usage = { prompt_tokens: 5 * count, completion_tokens: 2 * count };
  const cost = 9 * count;
  return { usage, cost, models: { priced: { ...usage, cost } } };
}

async function expectTeamToHave(team: TestTeam, count: number): Promise<void> {
  const { usage, cost } = calls(count);
  expect(value(await team.gateway.team())).toMatchObject({ usage, cost });
}

describe.each(KINDS)("$name", (kind) => {
  test("counts every model call, also those that no message shows", async () => {
    const { subject, modelCalls } = await undisturbed(kind);
    const [run] = value(await subject.team.gateway.runs({ limit: 1 })).runs;
    expect(modelCalls).toBeGreaterThan(0);
    // Each call has one token in its answer.
    expect(run?.usage.completion_tokens).toBe(modelCalls);
    const { prompt_tokens } = run!.usage;
    const cost = prompt_tokens + 2 * modelCalls;
    expect(run).toMatchObject({ cost, models: { priced: { ...run!.usage, cost } } });
    expect(value(await subject.team.gateway.team())).toMatchObject({ usage: run!.usage, cost });
  });
});

/** Makes a call, then one that hangs at its first attempt. */
function interruptible(arrived: Signal): ComponentModel {
  let attempts = 0;
  return agent("a", async function* (self, ctx) {
    const reply = await modelCall(ctx, "model:0", "reply", USAGE, PRICED);
    yield { ...thought(self.name, ctx, reply), models_usage: USAGE };
    await ctx.step("held", async () => {
      arrived.set();
      if (++attempts === 1) await new Promise(() => {});
      return null;
    });
    return modelCall(ctx, "model:1", "said", USAGE, PRICED);
  });
}

describe("a recorded call counts once", () => {
  test("when its turn runs again", async () => {
    const arrived = new Signal();
    const team = await TestTeam.create(roundRobin([interruptible(arrived)], 1));
    const { id } = await team.start("go");
    await arrived.wait();
    expect(await team.run(id)).toMatchObject(ONE_CALL);
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    expect(await team.finished(id)).toMatchObject({ status: "completed", ...calls(2) });
    await team.evict();
    expect(await team.run(id)).toMatchObject(calls(2));
    await expectTeamToHave(team, 2);
  });

  test("when its run is cancelled, and not again in the retry", async () => {
    const arrived = new Signal();
    const team = await TestTeam.create(roundRobin([interruptible(arrived)], 1));
    const { id } = await team.start("go");
    await arrived.wait();
    value(await team.gateway.stopRun(id, "now"));
    expect(await team.run(id)).toMatchObject({ status: "cancelled", ...ONE_CALL });
    const retry = value(await team.gateway.retryRun(id));
    expect(await team.finished(retry.id)).toMatchObject({ status: "completed", ...ONE_CALL });
    await expectTeamToHave(team, 2);
  });

  test("when its turn is given up for another run", async () => {
    const arrived = new Signal();
    const team = await TestTeam.create(roundRobin([interruptible(arrived)], 1));
    const { id } = await team.start("one");
    await arrived.wait();
    const other = await team.start("two", { on_conflict: "interrupt" });
    expect(await team.run(id)).toMatchObject({ status: "cancelled", ...ONE_CALL });
    expect(await team.finished(other.id)).toMatchObject(calls(2));
    await expectTeamToHave(team, 3);
  });

  test("when its run failed, and in the retry if it is repeated there", async () => {
    let broken = true;
    let made = 0;
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        const reply = (): string => `reply ${++made}`;
        await modelCall(ctx, "model:0", reply, USAGE, PRICED);
        await modelCall(ctx, "model:1", reply, USAGE, PRICED);
        if (broken) throw new TypeError("cannot read this");
        return modelCall(ctx, "model:2", reply, USAGE, PRICED);
      }),
    );
    const failed = await team.finished((await team.start("go")).id);
    expect(failed).toMatchObject({ status: "failed", ...calls(2) });
    const second = value(await team.gateway.retryRun(failed.id));
    expect(await team.finished(second.id)).toMatchObject({ status: "failed", ...calls(1) });
    await team.evict();
    broken = false;
    const third = value(await team.gateway.retryRun(second.id));
    // The last one of the two calls before the failure is made again.
    expect(await team.finished(third.id)).toMatchObject({ status: "completed", ...calls(2) });
    expect(made).toBe(5);
    await expectTeamToHave(team, made);
  });

  test("when its request has changed and it is made again", async () => {
    const arrived = new Signal();
    let prompt = "old";
    let made = 0;
    const asker = agent("a", async function* (_self, ctx) {
      yield* [];
      const options = { ...PRICED, fingerprint: prompt };
      const reply = await modelCall(ctx, "model:0", () => `reply ${++made}`, USAGE, options);
      return ctx.step("held", async () => {
        arrived.set();
        if (prompt !== "newest") await new Promise(() => {});
        return reply;
      });
    });
    const team = await TestTeam.create(roundRobin([asker], 2));
    const { id } = await team.start("go");
    for (const next of ["new", "newest"]) {
      await arrived.wait();
      await team.evict();
      prompt = next;
      await runDurableObjectAlarm(team.stub);
    }
    expect(await team.finished(id)).toMatchObject({ status: "completed", ...calls(4) });
    // Three calls in the first turn, one in the second.
    expect(made).toBe(4);
    await expectTeamToHave(team, 4);
  });
});

test("the last frame about a run has the usage of the run", async () => {
  const once = agent("a", async function* (_self, ctx) {
    yield* [];
    return modelCall(ctx, "model:0", "said", USAGE, PRICED);
  });
  const team = await TestTeam.create(roundRobin([once], 2));
  const shown: unknown[] = [];
  for await (const { event, data } of await team.startStream("go")) {
    if (event === "run") shown.push(data);
  }
  const [run] = value(await team.gateway.runs({ limit: 1 })).runs;
  expect(run).toMatchObject({ status: "completed", turns: 2, ...calls(2) });
  expect(shown.at(-1)).toEqual(run);
});

test("the tenant's list and report have the usage of a run by model", async () => {
  const once = agent("a", async function* (_self, ctx) {
    yield* [];
    return modelCall(ctx, "model:0", "said", USAGE, PRICED);
  });
  const team = await TestTeam.create(roundRobin([once], 2));
  const run = await team.finished((await team.start("go")).id);
  await team.delivered();
  const tenant = tenantStub("tenant");
  const { usage, models } = calls(2);
  expect(value(await tenant.runs({ team: team.id, limit: 10 })).runs).toMatchObject([
    { id: run.id, usage, models },
  ]);
  const day = run.ended_at?.slice(0, 10) ?? "";
  const report = value(await tenant.usageReport({ from: day, to: day, by: ["team", "model"] }));
  expect(report.usage.filter((row) => row.team === team.id)).toEqual([
    {
      team: team.id,
      team_label: null,
      model: "priced",
      runs: 1,
      turns: 2,
      ...usage,
      cost: 18,
    },
  ]);
});

describe("the usage by model", () => {
  test("counts known prices only, and a call without a model's name as unknown", async () => {
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        await modelCall(ctx, "model:0", "one", USAGE, PRICED);
        await modelCall(ctx, "model:1", "two", USAGE, { model: "toString" });
        return modelCall(ctx, "model:2", "three", USAGE);
      }),
    );
    const run = await team.finished((await team.start("go")).id);
    expect(run).toMatchObject({
      usage: { prompt_tokens: 15, completion_tokens: 6 },
      cost: 9,
      models: {
        priced: { ...USAGE, cost: 9 },
        toString: { ...USAGE, cost: null },
        unknown: { ...USAGE, cost: null },
      },
    });
    expect(value(await team.gateway.team()).cost).toBe(9);
  });

  test("has no cost if no price is known", async () => {
    const team = await TestTeam.create(replayAssistant("a", ["one two"]));
    expect(value(await team.gateway.team()).cost).toBeNull();
    const run = await team.finished((await team.start("go")).id);
    expect(run).toMatchObject({ cost: null, models: { replay: { ...run.usage, cost: null } } });
    expect(value(await team.gateway.team()).cost).toBeNull();
  });

  test("does not count a result from the cache as a call, whatever its message says", async () => {
    const cached = replayAssistant("a", [], {
      model_client: {
        provider: "ChatCompletionCache",
        config: {
          client: {
            provider: "ReplayChatCompletionClient",
            config: { chat_completions: ["one", "two"] },
          },
        },
      },
    });
    const team = await TestTeam.create(roundRobin([cached], 1));
    const first = await team.finished((await team.start("go")).id);
    value(await team.gateway.reset());
    const second = await team.finished((await team.start("go")).id);
    expect(second.result?.messages.at(-1)?.models_usage).toEqual(first.usage);
    expect(second).toMatchObject({ usage: { prompt_tokens: 0, completion_tokens: 0 }, models: {} });
    expect(value(await team.gateway.team()).usage).toEqual(first.usage);
  });

  test("begins with zero in a fork", async () => {
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        return modelCall(ctx, "model:0", "said", USAGE, PRICED);
      }),
    );
    await team.finished((await team.start("go")).id);
    const fork = await team.fork();
    expect(value(await fork.gateway.team())).toMatchObject({
      usage: { prompt_tokens: 0, completion_tokens: 0 },
      cost: null,
    });
  });
});

describe("a limit", () => {
  function chatty(): ComponentModel {
    return agent("a", async function* (_self, ctx) {
      yield* [];
      for (let call = 0; call < 9; call++) {
        await modelCall(ctx, `model:${call}`, "hm", USAGE, PRICED);
      }
      return "said";
    });
  }

  test("ends the run before the next step if it is for the cost, and a retry has it again", async () => {
    const team = await TestTeam.create(chatty());
    const run = await team.finished((await team.start("go", { max_cost: 20 })).id);
    expect(run).toMatchObject({
      status: "failed",
      error: { type: "cost_limit", message: "the run cost 27, more than its limit of 20" },
      ...calls(3),
    });
    await team.evict();
    const retry = value(await team.gateway.retryRun(run.id));
    expect(await team.finished(retry.id)).toMatchObject({
      status: "failed",
      error: { type: "cost_limit" },
      ...calls(3),
    });
    await expectTeamToHave(team, 6);
  });

  test("that is just reached is not exceeded", async () => {
    const team = await TestTeam.create(chatty());
    const { id } = await team.start("go", { max_cost: 81, max_total_tokens: 63 });
    expect(await team.finished(id)).toMatchObject({ status: "completed", ...calls(9) });
  });

  test("counts calls that no message shows if it is for the tokens", async () => {
    const team = await TestTeam.create(chatty());
    const run = await team.finished((await team.start("go", { max_total_tokens: 20 })).id);
    expect(run).toMatchObject({ status: "failed", error: { type: "token_limit" }, ...calls(3) });
  });
});

describe("usage that earlier versions stored", () => {
  test("is shown without models and cost, and continues counting", async () => {
    const arrived = new Signal();
    const team = await TestTeam.create(roundRobin([interruptible(arrived)], 2));
    const past = { prompt_tokens: 100, completion_tokens: 10 };
    const { id } = await team.start("go");
    await arrived.wait();
    await team.sql("update meta set value = json_remove(value, '$.cost') where name = 'team'");
    await team.sql("update run set record = json_remove(record, '$.models', '$.max_cost')");
    await team.sql(
      `update head set body = json_set(json_remove(body, '$.commit.models'), '$.commit.usage', json('${JSON.stringify(past)}')) where path = ''`,
    );
    await team.evict();
    const run = await team.finished(id);
    const { usage, cost, models } = calls(4);
    const sum = {
      prompt_tokens: past.prompt_tokens + usage.prompt_tokens,
      completion_tokens: past.completion_tokens + usage.completion_tokens,
    };
    expect(run).toMatchObject({ status: "completed", usage: sum, cost, models });
    expect(value(await team.gateway.team())).toMatchObject({ usage: sum, cost });
    await team.sql("update run set record = json_remove(record, '$.models')");
    await team.evict();
    expect(await team.run(id)).toMatchObject({ usage: sum, cost: null, models: {} });
  });
});
