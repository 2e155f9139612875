import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import { Effects } from "../support/effects.ts";
import { agentTool, assistant, boss, graph, named, speaker } from "../support/components.ts";
import { type Kind, KINDS } from "../support/kinds.ts";
import { settled, subjectOf, undisturbed } from "../support/outcome.ts";
import { agent, TestTeam, texts, value } from "../support/team.ts";
import { sampled } from "../../support/samples.ts";

describe.each(KINDS)("$name", (kind) => {
  test("fails when one effect does, and a retry ends as if it had not", async () => {
    const { outcome, places } = await undisturbed(kind);
    // What fails in a tool is for the model to read.
    const fatal = places.filter((place) => !place.includes("/tool:"));
    for (const place of sampled(new Set(fatal))) {
      const { effects, team } = await subjectOf(kind);
      const mend = effects.break(place, new ModelError("auth", "out of order"));
      const failed = await team.finished((await team.start("go")).id);
      expect(failed, place).toMatchObject({ status: "failed", error: { type: "model_auth" } });
      const { messages } = value(await team.gateway.messages({ limit: 200 }));
      // Nothing stays of the turn that was given up.
      expect(messages.filter(({ turn }) => turn > failed.turn)).toEqual([]);
      mend();
      const retry = value(await team.gateway.retryRun(failed.id));
      expect(await team.finished(retry.id), place).toMatchObject({ status: "completed" });
      expect(await settled({ effects, team }), place).toEqual(outcome);
      expect(effects.begun.filter((other) => other === place).length, place).toBe(2);
      expect(effects.begun.length, place).toBe(places.length + 1);
    }
  });
});

describe("a wave with failures", () => {
  const OUT_OF_ORDER = new ModelError("auth", "out of order");
  const wave = {
    name: "a wave",
    component: (effects: Effects) =>
      graph(
        ["start", "left", "right", "end"].map((name) => assistant(effects, name)),
        ["start>left", "start>right", "left>end", "right>end"],
      ),
  };

  test("lets the other agent finish its step", async () => {
    const { outcome } = await undisturbed(wave);
    const { effects, team } = await subjectOf(wave);
    const mend = effects.break("2/speaker:left/model:0", OUT_OF_ORDER);
    const release = effects.hold("2/speaker:right/model:0");
    const { id } = await team.start("go");
    await effects.until("2/speaker:left/model:0");
    await effects.until("2/speaker:right/model:0");
    expect(await team.run(id)).toMatchObject({ status: "running" });
    release();
    expect(await team.finished(id)).toMatchObject({ status: "failed" });
    mend();
    const retry = value(await team.gateway.retryRun(id));
    expect(await team.finished(retry.id)).toMatchObject({ status: "completed" });
    expect(effects.begun.filter((place) => place.includes("right"))).toHaveLength(1);
    expect(await settled({ effects, team })).toEqual(outcome);
  });

  test.each([
    ["of errors of their own", () => new ModelError("auth", "out of order")],
    ["of an error they share", () => OUT_OF_ORDER],
  ])(
    "that several agents cause %s has all of them tried again by one retry",
    async (_case, error) => {
      const { outcome } = await undisturbed(wave);
      const { effects, team } = await subjectOf(wave);
      const mends = ["left", "right"].map((name) =>
        effects.break(`2/speaker:${name}/model:0`, error()),
      );
      const { id } = await team.start("go");
      expect(await team.finished(id)).toMatchObject({ status: "failed" });
      for (const mend of mends) mend();
      const retry = value(await team.gateway.retryRun(id));
      expect(await team.finished(retry.id)).toMatchObject({ status: "completed" });
      expect(await settled({ effects, team })).toEqual(outcome);
    },
  );

  test("that is inside another one has its failed agents tried again, too", async () => {
    const kind: Kind = {
      name: "a wave in a wave",
      component: (effects) => {
        const inner = graph([assistant(effects, "p"), assistant(effects, "q")], []);
        return graph(
          [speaker(effects, "start"), assistant(effects, "left"), named(inner, "inner")],
          ["start>left", "start>inner"],
        );
      },
    };
    const { outcome, places } = await undisturbed(kind);
    const { effects, team } = await subjectOf(kind);
    const releases = places.slice(1).map((place) => effects.hold(place));
    const { id } = await team.start("go");
    for (const place of places) await effects.until(place);
    for (const release of releases) release(new ModelError("auth", "out of order"));
    const failed = await team.finished(id);
    expect(failed).toMatchObject({ status: "failed" });
    const retry = value(await team.gateway.retryRun(failed.id));
    expect(await team.finished(retry.id)).toMatchObject({ status: "completed" });
    expect(effects.begun).toHaveLength(places.length + 3);
    expect(await settled({ effects, team })).toEqual(outcome);
  });

  test("asks again for the reply that led to the failure, not for the last one", async () => {
    const effects = new Effects();
    let nonsense = true;
    const reader = agent("reader", async function* (_self, ctx) {
      yield* [];
      const reply = await ctx.step(
        "model:0",
        async ({ idempotencyKey }) => {
          await effects.run(idempotencyKey);
          return nonsense ? "nonsense" : "sense";
        },
        { kind: "model" },
      );
      if (reply === "nonsense") throw new TypeError("cannot read this");
      return reply;
    });
    const component = graph(
      [speaker(effects, "start"), reader, assistant(effects, "other")],
      ["start>reader", "start>other"],
    );
    const team = await TestTeam.create(component);
    const release = effects.hold("2/speaker:other/model:0");
    const { id } = await team.start("go");
    await effects.until("2/speaker:reader/model:0");
    await effects.until("2/speaker:other/model:0");
    release();
    expect(await team.finished(id)).toMatchObject({
      status: "failed",
      error: { message: "cannot read this", agent: "reader", turn: 3, step: null },
    });
    nonsense = false;
    const retry = value(await team.gateway.retryRun(id));
    expect(await team.finished(retry.id)).toMatchObject({ status: "completed" });
    expect(effects.begun).toEqual([
      "1/speaker:start/work",
      "2/speaker:reader/model:0",
      "2/speaker:other/model:0",
      "2/speaker:reader/model:0",
    ]);
    expect(texts(await team.run(retry.id))).toContain("sense");
  });
});

describe("a failure in a tool", () => {
  test("is for the model to read, the same after an interruption", async () => {
    const effects = new Effects();
    const team = await TestTeam.create(
      boss(effects, "boss", [agentTool(assistant(effects, "worker"))], ["worker"]),
    );
    const inside = "1/tool:0:0/turn:1/model:0";
    effects.break(inside, new ModelError("auth", "out of order"));
    effects.hang("1/model:1");
    const { id } = await team.start("go");
    await effects.until("1/model:1");
    await team.evict();
    const run = await team.finished(id);
    expect(texts(run).at(-1)).toBe("boss got out of order");
    expect(effects.begun.filter((place) => place === inside)).toHaveLength(1);
    await settled({ effects, team });
  });
});
