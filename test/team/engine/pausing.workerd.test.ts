import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import { hooks } from "../support/scripted-agent.ts";
import { agent, roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";

describe("a pause", () => {
  test("holds back a question's default answer, which counts as soon as it is over", async () => {
    const human = {
      provider: "UserProxyAgent",
      config: { name: "human", timeout_seconds: 3600, default_answer: "nobody home" },
    };
    const team = await TestTeam.create(roundRobin([human], 1));
    const { id } = await team.start("go");
    await team.rested(id);
    value(await team.gateway.pauseRun(id));
    expect(await team.rested(id)).toMatchObject({ status: "paused" });
    expect(await team.alarm()).toBeNull();
    await team.sql("update question set expires_at = 1");
    await team.evict();
    value(await team.gateway.resumeRun(id));
    const run = await team.rested(id);
    if (run.status === "waiting") await runDurableObjectAlarm(team.stub);
    expect(texts(await team.finished(id))).toEqual(["go", "", "nobody home"]);
  });

  test("keeps the time at which a long wait for a model ends, and notifies the agents", async () => {
    const tried = new Signal();
    let calls = 0;
    const component = agent("a", async function* (_self, ctx) {
      yield* [];
      return ctx.step(
        "model:0",
        () => {
          tried.set();
          if (++calls === 2) return Promise.resolve("said");
          throw new ModelError("rate_limit", "slow down", { retryAfterMs: 3_600_000 });
        },
        { retry: () => ({ forSeconds: 7200 }) },
      );
    });
    const name = component.config["script"] as string;
    const team = await TestTeam.create(roundRobin([component], 1));
    const { id } = await team.start("go");
    await tried.wait();
    await team.run(id);
    const alarm = await team.alarm();
    value(await team.gateway.pauseRun(id));
    expect(await team.rested(id)).toMatchObject({ status: "paused" });
    expect(await team.alarm()).toBeNull();
    expect(value(await team.gateway.resumeRun(id))).toMatchObject({ status: "running" });
    expect(await team.alarm()).toBe(alarm);
    expect(calls).toBe(1);

    // As if the time had come.
    await team.sql("update step set result = '1'");
    await team.sql(`update run set record = replace(record, '"wake_at":${alarm}', '"wake_at":1')`);
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    expect(texts(await team.finished(id))).toEqual(["go", "said"]);
    expect(hooks.filter((hook) => hook.startsWith(`${name} `))).toEqual([
      `${name} pause`,
      `${name} resume`,
    ]);
  });
});
