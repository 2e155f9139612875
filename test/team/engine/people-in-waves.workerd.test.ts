import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import { human } from "../support/components.ts";
import { answer, settled, subjectOf, waiting, undisturbed } from "../support/outcome.ts";
import { waveWith } from "../support/seats.ts";
import { value } from "../support/team.ts";

const DEADLINE = { timeout_seconds: 3600, default_answer: "so be it" };

describe("a wave with humans", () => {
  const ann = human({}, "ann");
  const bob = human({}, "bob");
  const WORK = "2/speaker:worker/model:0";

  test("asks two humans, who answer in either order", async () => {
    const outcomes = [];
    for (const [first, second] of [
      ["ann", "bob"],
      ["bob", "ann"],
    ] as const) {
      const subject = await waiting(waveWith([ann, bob]));
      const { team, run } = subject;
      expect(run.requests.map(({ source }) => source)).toEqual(["ann", "bob"]);
      await answer(subject, run, `${first} knows`, first);
      const still = await team.rested(run.id);
      expect(still).toMatchObject({ status: "waiting", requests: [{ source: second }] });
      await team.evict();
      await answer(subject, run, `${second} knows`, second);
      expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
      outcomes.push(await settled(subject));
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
  });

  test.each(["ends", "is lost"])(
    "accepts an answer before the turn waits for it, while a step %s",
    async (fate) => {
      const subject = await subjectOf(waveWith([ann, bob]));
      const { team, effects } = subject;
      const release = fate === "ends" ? effects.hold(WORK) : effects.hang(WORK);
      const run = await team.start("go");
      await effects.until(WORK);
      expect(value(await team.gateway.requests(run.id))).toHaveLength(2);
      expect(await answer(subject, run, "ann knows", "ann")).toMatchObject({ status: "running" });
      if (release) release();
      else {
        await team.evict();
        await runDurableObjectAlarm(team.stub);
      }
      const rested = await team.rested(run.id);
      expect(rested).toMatchObject({ status: "waiting", requests: [{ source: "bob" }] });
      await answer(subject, run, "bob knows", "bob");
      expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
      await settled(subject);
    },
  );

  test("does not wait if both have answered before", async () => {
    const subject = await subjectOf(waveWith([ann, bob]));
    const { team, effects } = subject;
    const release = effects.hold(WORK);
    const run = await team.start("go");
    const stream = await team.stream(run.id);
    await effects.until(WORK);
    await answer(subject, run, "bob knows", "bob");
    await answer(subject, run, "ann knows", "ann");
    release();
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    const seen: unknown[] = [];
    for await (const { event, data } of stream) {
      if (event === "run") seen.push((data as RunInfo).status);
    }
    expect(seen).not.toContain("waiting");
    await settled(subject);
  });

  test("has a deadline for each question", async () => {
    const subject = await waiting(waveWith([human(DEADLINE, "ann"), bob]));
    const { team, run } = subject;
    expect(await team.alarm()).not.toBeNull();
    await team.sql("update question set expires_at = 1 where expires_at is not null");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    const rested = await team.rested(run.id);
    expect(rested).toMatchObject({ status: "waiting", requests: [{ source: "bob" }] });
    expect(await team.alarm()).toBeNull();
    await answer(subject, run, "bob knows", "bob");
    await team.finished(run.id);
    const { said } = await settled(subject);
    expect(JSON.stringify(said["ann"])).toContain("so be it");
  });

  test("lets a deadline pass while another agent still works", async () => {
    const subject = await subjectOf(
      waveWith([human({ ...DEADLINE, timeout_seconds: 0.001 }, "ann")]),
    );
    const { team, effects } = subject;
    const release = effects.hold(WORK);
    const run = await team.start("go");
    await effects.until(WORK);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
    await runDurableObjectAlarm(team.stub);
    expect(await team.run(run.id)).toMatchObject({ status: "running", requests: [] });
    release();
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    await settled(subject);
  });

  test("does not retry a model earlier because of an answer", async () => {
    const kind = waveWith([ann]);
    const { outcome } = await undisturbed(kind);
    const subject = await subjectOf(kind);
    const { team, effects } = subject;
    effects.breakOnce(WORK, new ModelError("rate_limit", "later", { retryAfterMs: 110_000 }));
    const run = await team.rested((await team.start("go")).id);
    expect(run).toMatchObject({ status: "waiting" });
    const alarm = await team.alarm();
    expect(alarm).toBeGreaterThan(Date.now() + 90_000);
    await answer(subject, run, "ann knows", "ann");
    await effects.quiet(team);
    expect(await team.run(run.id)).toMatchObject({ status: "running", requests: [] });
    expect(await team.alarm()).toBe(alarm);
    expect(effects.begun.filter((place) => place === WORK)).toHaveLength(1);

    // As if the time had come.
    await team.sql("update step set result = '1' where state = 'waiting'");
    await team.sql("update run set record = json_set(record, '$.wake_at', 1)");
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    expect(await settled(subject)).toEqual(outcome);
  });

  test("closes its open questions at a failure, and a retry keeps the answers", async () => {
    const subject = await subjectOf(waveWith([ann, bob]));
    const { team, effects } = subject;
    const release = effects.hold(WORK);
    const run = await team.start("go");
    await effects.until(WORK);
    const [, asked] = value(await team.gateway.requests(run.id));
    await answer(subject, run, "ann knows", "ann");
    release(new ModelError("auth", "out of order"));
    const failed = await team.finished(run.id);
    expect(failed).toMatchObject({ status: "failed", requests: [] });

    const retry = value(await team.gateway.retryRun(failed.id));
    const rested = await team.rested(retry.id);
    expect(rested).toMatchObject({
      status: "waiting",
      requests: [{ id: asked?.id, source: "bob" }],
    });
    await answer(subject, retry, "bob knows", "bob");
    expect(await team.finished(retry.id)).toMatchObject({ status: "completed" });
    const { said } = await settled(subject);
    expect(JSON.stringify(said["ann"])).toContain("ann knows");
  });
});
