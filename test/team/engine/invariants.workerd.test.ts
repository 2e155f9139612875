import { describe, expect, test } from "vitest";
import { lastObject } from "../support/last-object.ts";
import { thought } from "../support/scripted-agent.ts";
import { agent, outline, roundRobin, Signal, TestTeam, texts, value } from "../support/team.ts";
import { storedRows } from "../support/stored-rows.ts";

// What must hold of a durable turn, by the numbers of src/team/engine/durable-turn.ts.

/** What the object that runs has stored by now, without what waits in memory to be written. */
function stored<Row extends Record<string, SqlStorageValue>>(query: string): Row[] {
  return lastObject.state ? storedRows<Row>(lastObject.state.storage, query) : [];
}

const steps = (): string[] =>
  stored<{ key: string; state: string }>("select key, state from step order by key").map(
    ({ key, state }) => `${key} ${state}`,
  );

describe("a durable turn", () => {
  test("T1: a turn that runs again begins with the last commit, whatever the pass before left in memory", async () => {
    const [passes, calls]: [string[], string[]] = [[], []];
    const team = await TestTeam.create(
      agent("a", async function* (self, ctx) {
        yield* [];
        passes.push(`${self.answers} ${self.said.length}`);
        self.answers = 40;
        self.said.append("not committed");
        await ctx.step("once", () => Promise.resolve(calls.push("once")));
        await ctx.ask({ id: ctx.id(), kind: "input", source: "a", prompt: "?" });
        return "done";
      }),
    );
    const { id } = await team.start("go");
    const [request] = (await team.rested(id)).requests;
    value(await team.gateway.answer(id, request?.id ?? "", { content: "yes" }));
    expect(texts(await team.finished(id))).toEqual(["go", "done"]);
    expect(passes).toEqual(["0 0", "0 0"]);
    expect(calls).toEqual(["once"]);
  });

  test("T2: a step's result is stored before the next effect of its scope begins", async () => {
    const seen: string[][] = [];
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        await ctx.step("first", () => Promise.resolve("result"));
        await ctx.step("second", () => Promise.resolve(seen.push(steps())));
        return "done";
      }),
    );
    await team.finished((await team.start("go")).id);
    expect(seen).toEqual([[expect.stringMatching(/first\S* done$/)]]);
  });

  test.each(["never", "ask"] as const)(
    "T3: a step of the policy %s is stored before its effect",
    async (policy) => {
      const seen: string[][] = [];
      const team = await TestTeam.create(
        agent("a", async function* (_self, ctx) {
          yield* [];
          await ctx.step("pay", () => Promise.resolve(seen.push(steps())), { policy });
          return "done";
        }),
      );
      await team.finished((await team.start("go")).id);
      expect(seen).toEqual([[expect.stringMatching(/pay\S* started$/)]]);
    },
  );

  test("T4: a repeated turn makes the same keys and ids, also in another object", async () => {
    const passes: unknown[] = [];
    const arrived = new Signal();
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            const said = thought(self.name, ctx, "thinking");
            yield said;
            await ctx.step("key", () => Promise.resolve(null));
            passes.push([said.id, ctx.id()]);
            await ctx.step("held", async () => {
              if (passes.length > 1) return;
              arrived.set();
              await new Promise(() => {});
            });
            return "done";
          }),
        ],
        1,
      ),
    );
    const { id } = await team.start("go");
    await arrived.wait();
    const before = await team.sql<{ key: string }>("select key from step");
    await team.crash();
    const run = await team.finished(id);
    expect(passes).toHaveLength(2);
    expect(passes[1]).toEqual(passes[0]);
    expect(before).toHaveLength(1);
    expect(texts(run)).toEqual(["go", "thinking", "done"]);
  });

  test("T5: a commit that fails stores nothing of its turn, retracts its messages, and leaves its steps for a retry", async () => {
    const calls: string[] = [];
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            yield thought(self.name, ctx, "thinking");
            await ctx.step("effect", () => Promise.resolve(calls.push("effect")));
            return "done";
          }),
        ],
        1,
      ),
    );
    await team.sql(
      "create trigger full before insert on head when new.turn > 1 begin select raise(abort, 'full'); end",
    );
    const { id } = await team.start("go");
    const run = await team.finished(id);
    expect(run).toMatchObject({
      status: "failed",
      error: { message: expect.stringContaining("full") },
    });
    expect(outline(await team.frames(id))).toEqual([
      "run failed",
      "go",
      "thinking",
      "done",
      "retract",
      "failed",
    ]);
    expect(await team.sql("select turn from head where turn > 1")).toEqual([]);
    expect(await team.sql("select key from step")).toHaveLength(1);
    await team.sql("drop trigger full");
    const retry = await team.finished(value(await team.gateway.retryRun(id)).id);
    expect(texts(retry)).toEqual(["thinking", "done"]);
    expect(calls).toEqual(["effect"]);
    expect(await team.sql("select key from step")).toEqual([]);
  });

  test("T6: a message that a client has got is still there after a crash", async () => {
    let passes = 0;
    const team = await TestTeam.create(
      agent("a", async function* (self, ctx) {
        yield thought(self.name, ctx, "thinking");
        await ctx.step("held", async () => {
          passes++;
          if (passes === 1) await new Promise(() => {});
        });
        return "done";
      }),
    );
    const { id } = await team.start("go");
    let got: { id: number | undefined; data: unknown } | undefined;
    for await (const frame of await team.stream(id)) {
      const { content } = frame.data as { content?: unknown };
      if (content !== "thinking") continue;
      got = frame;
      break;
    }
    await team.crash();
    await team.finished(id);
    const again = (await team.frames(id)).find((frame) => frame.id === got?.id);
    expect(again).toEqual(got);
  });

  test("T7: an execution that is superseded writes nothing when its effect ends", async () => {
    const [go, arrived, ended] = [new Signal(), new Signal(), new Signal()];
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            try {
              await ctx.step("held", () => {
                arrived.set();
                return go.wait().then(() => null);
              });
              yield thought(self.name, ctx, "too late");
              return "too late";
            } finally {
              ended.set();
            }
          }),
        ],
        1,
      ),
    );
    const { id } = await team.start("go");
    await arrived.wait();
    value(await team.gateway.stopRun(id, "now"));
    const before = [
      await team.sql("select seq from event"),
      await team.sql("select key from step"),
    ];
    go.set();
    await ended.wait();
    await team.delivered();
    expect([
      await team.sql("select seq from event"),
      await team.sql("select key from step"),
    ]).toEqual(before);
    expect(await team.run(id)).toMatchObject({ status: "cancelled" });
  });

  test("T8: the alarm is set before a run's first effect, and for an answer's deadline before the run is idle", async () => {
    const alarms: (number | null | undefined)[] = [];
    const alarm = () => lastObject.state?.storage.getAlarm();
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        await ctx.step("look", async () => alarms.push(await alarm()));
        await ctx.ask({
          id: ctx.id(),
          kind: "input",
          source: "a",
          prompt: "?",
          timeoutSeconds: 600,
          defaultAnswer: { content: "none" },
        });
        return "done";
      }),
    );
    const before = Date.now();
    const { id } = await team.start("go");
    await team.rested(id);
    expect(alarms).toEqual([expect.any(Number)]);
    expect(await team.alarm()).toBeGreaterThanOrEqual(before + 600_000);
  });
});
