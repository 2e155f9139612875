import { runDurableObjectAlarm } from "cloudflare:test";
import { describe, expect, test } from "vitest";
import { ModelError } from "troupe";
import type { Message } from "troupe";
import type { MessagePage } from "#contract/team.ts";
import { modelCall, thought } from "../support/scripted-agent.ts";
import { agent, roundRobin, Signal, TestTeam, value } from "../support/team.ts";

describe("a time limit", () => {
  test("counts again for a retry, however long the steps it takes over took", async () => {
    let broken = true;
    const arrived = new Signal();
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        await ctx.step("long", () => Promise.resolve(null), { policy: "never" });
        if (broken) throw new TypeError("broken");
        return ctx.step("held", async () => {
          arrived.set();
          await new Promise(() => {});
          return "";
        });
      }),
    );
    const { id } = await team.start("go", { timeout_seconds: 600 });
    expect(await team.finished(id)).toMatchObject({ status: "failed" });
    await team.sql("update step set ran = 700000");
    await team.evict();
    broken = false;
    const retry = value(await team.gateway.retryRun(id));
    await arrived.wait();
    await runDurableObjectAlarm(team.stub);
    expect(await team.run(retry.id)).toMatchObject({ status: "running", error: null });
  });

  test("continues while the run waits for a model's permission", async () => {
    const tried = new Signal();
    const team = await TestTeam.create(
      agent("a", async function* (_self, ctx) {
        yield* [];
        return ctx.step(
          "model:0",
          () => {
            tried.set();
            throw new ModelError("rate_limit", "slow down", { retryAfterMs: 3_600_000 });
          },
          { retry: () => ({ forSeconds: 7200 }) },
        );
      }),
    );
    const { id } = await team.start("go", { timeout_seconds: 100 });
    await tried.wait();
    expect(await team.run(id)).toMatchObject({ status: "running" });
    const alarm = await team.alarm();
    expect(alarm).toBeGreaterThan(Date.now() + 50_000);
    expect(alarm).toBeLessThan(Date.now() + 100_000);
    // As if that time had gone by while the object was unloaded.
    const [{ record } = { record: "" }] = await team.sql<{ record: string }>(
      "select record from run",
    );
    const { rest_since } = JSON.parse(record) as { rest_since: number };
    await team.sql(
      `update run set record = replace(record, '"rest_since":${rest_since}', '"rest_since":${rest_since - 100_000}')`,
    );
    await team.evict();
    await runDurableObjectAlarm(team.stub);
    expect(await team.finished(id)).toMatchObject({
      status: "failed",
      error: { type: "run_timeout" },
    });
    expect(await team.alarm()).toBeNull();
  });
});

describe("a time that is far away", () => {
  test.each([1e15, Number.POSITIVE_INFINITY])(
    "does not keep a run for ever: a server that asks to wait %d ms is not asked again",
    async (retryAfterMs) => {
      const team = await TestTeam.create(
        agent("a", async function* (_self, ctx) {
          yield* [];
          return ctx.step("model:0", () => {
            throw new ModelError("rate_limit", "slow down", { retryAfterMs });
          });
        }),
      );
      const { id } = await team.start("go");
      expect(await team.finished(id)).toMatchObject({
        status: "failed",
        error: { type: "model_rate_limit", attempts: 1 },
      });
    },
  );

  test("is shown as a date for a question without a limit", async () => {
    const config = { name: "human", timeout_seconds: 1e300, default_answer: "yes" };
    const team = await TestTeam.create(roundRobin([{ provider: "UserProxyAgent", config }], 1));
    const { id } = await team.start("go");
    const [request] = (await team.rested(id)).requests;
    expect(request?.expires_at).toMatch(/^9999-/);
    await runDurableObjectAlarm(team.stub);
    expect(await team.alarm()).not.toBeNull();
    value(await team.gateway.answer(id, request!.id, { content: "no" }));
    expect(await team.finished(id)).toMatchObject({ status: "completed" });
  });
});

describe("a token limit", () => {
  test("leaves the turn that reached it, and a retry begins after it, in its time, too", async () => {
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* (self, ctx) {
            yield thought(self.name, ctx, "hm");
            const usage = { prompt_tokens: 8, completion_tokens: 0 };
            return modelCall(ctx, "model:0", `said ${self.answers + 1}`, usage);
          }),
        ],
        2,
      ),
    );
    const failed = await team.finished((await team.start("go", { max_total_tokens: 7 })).id);
    expect(failed).toMatchObject({ status: "failed", turns: 1, error: { type: "token_limit" } });
    const [head] = await team.sql<{ body: string }>(
      "select body from head where path = '' order by turn desc limit 1",
    );
    const { commit } = JSON.parse(head!.body) as { commit: { time: object } };
    const retry = value(await team.gateway.retryRun(failed.id));
    await team.finished(retry.id);
    const [, row] = await team.sql<{ record: string }>("select record from run order by seq");
    expect(JSON.parse(row!.record)).toMatchObject({ first_turn: 2, first_moment: commit.time });
    const { messages } = value(await team.gateway.messages({ limit: 10 }));
    expect(messages.map((message) => "content" in message && message.content)).toEqual([
      "go",
      "hm",
      "said 1",
      "hm",
      "said 2",
    ]);
  });
});

describe("sizes", () => {
  test("a page of messages has no more than a call can carry", async () => {
    const team = await TestTeam.create(
      roundRobin(
        [
          agent("a", async function* () {
            yield* [];
            return "x".repeat(1_100_000);
          }),
        ],
        8,
      ),
    );
    await team.finished((await team.start("go")).id);
    const forwards: Message[] = [];
    let after: number | null = 0;
    let pages = 0;
    while (after !== null) {
      const page: MessagePage = value(await team.gateway.messages({ after, limit: 200 }));
      forwards.push(...page.messages);
      after = page.next_after;
      pages++;
    }
    expect(forwards).toHaveLength(9);
    expect(pages).toBeGreaterThan(1);
    const backwards: Message[] = [];
    let before: number | null = 1_000;
    while (before !== null) {
      const page: MessagePage = value(await team.gateway.messages({ before, limit: 200 }));
      backwards.unshift(...page.messages);
      before = page.next_before;
    }
    expect(backwards.map(({ id }) => id)).toEqual(forwards.map(({ id }) => id));
  });

  test("a page of runs has no more than a call can carry", async () => {
    const team = await TestTeam.create(
      agent("a", async function* () {
        yield* [];
        return "ok";
      }),
    );
    for (let count = 0; count < 6; count++)
      await team.finished((await team.start("x".repeat(1_000_000))).id);
    const first = value(await team.gateway.runs({ limit: 200 }));
    expect(first.runs.length).toBeLessThan(6);
    const cursor = first.next_cursor ?? "";
    const rest = value(await team.gateway.runs({ limit: 200, cursor }));
    expect(first.runs.length + rest.runs.length).toBe(6);
    expect(rest.next_cursor).toBeNull();
    expect(await team.gateway.runs({ limit: 1, cursor: "nobody-gave-it-out" })).toMatchObject({
      ok: false,
      problem: { status: 422, code: "invalid_cursor", errors: [{ path: "cursor" }] },
    });
  });

  test("a failure with a long text is cut, so that its run's row stays small", async () => {
    const team = await TestTeam.create(
      agent("a", async function* () {
        yield* [];
        throw new Error("x".repeat(3_000_000));
      }),
    );
    const { id } = await team.start("go");
    const { error } = await team.finished(id);
    expect(error?.message.length).toBeLessThan(20_000);
    const [row] = await team.sql<{ size: number }>("select length(record) as size from run");
    expect(row?.size).toBeLessThan(50_000);
  });
});
