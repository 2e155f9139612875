import { runDurableObjectAlarm } from "cloudflare:test";
import { expect, test, vi } from "vitest";
import { ModelError, RequestError } from "troupe";
import { agent, TestTeam, texts, value } from "../support/team.ts";

/** An agent whose model is away until `backAt` (epoch milliseconds), with patience for `forSeconds`. */
function waiting(forSeconds: number, backAt: () => number, attempts: number[]) {
  return agent("a", async function* (_self, ctx) {
    yield* [];
    return ctx.step(
      "model:0",
      () => {
        attempts.push(Date.now());
        if (Date.now() < backAt()) {
          throw new ModelError("server", "503", { retryAfterMs: 60_000 });
        }
        return Promise.resolve("back");
      },
      { kind: "model", retry: () => ({ forSeconds }) },
    );
  });
}

/** An agent with a payment that must not happen twice, whose server refuses connections until `backAt`. */
function paying(policy: "never" | "ask", backAt: () => number, attempts: number[]) {
  return agent("a", async function* (_self, ctx) {
    yield* [];
    return ctx.step(
      "pay",
      () => {
        attempts.push(Date.now());
        if (Date.now() >= backAt()) return Promise.resolve("paid");
        const options = { retryable: true, unsent: true, retryAfterMs: 60_000 };
        throw new RequestError("away", "refused", options);
      },
      { policy, retry: () => ({ forSeconds: 600 }) },
    );
  });
}

/** Rings the alarm whenever it is due, as if the time until then had gone by, and unloads the object in between. */
async function untilOver(team: TestTeam, id: string): Promise<void> {
  for (;;) {
    const { status } = await team.run(id);
    if (status !== "running") return;
    const alarm = await team.alarm();
    if (alarm === null) return;
    vi.setSystemTime(Math.max(Date.now(), alarm));
    await team.evict();
    await runDurableObjectAlarm(team.stub);
  }
}

test.each([
  [600, 500, "completed"],
  [600, 700, "failed"],
])(
  "patience for %d seconds outlives an outage of %d: %s, though the object is unloaded between attempts",
  async (forSeconds, awaySeconds, status) => {
    const attempts: number[] = [];
    const start = Date.now();
    const team = await TestTeam.create(
      waiting(forSeconds, () => start + awaySeconds * 1000, attempts),
    );
    vi.setSystemTime(start);
    try {
      const { id } = await team.start("go");
      await expect.poll(async () => (await team.run(id)).next_attempt_at).not.toBeNull();
      await untilOver(team, id);
      const run = await team.run(id);
      expect(run.status).toBe(status);
      if (status === "completed") expect(texts(await team.finished(id))).toEqual(["go", "back"]);
      else expect(run.error?.type).toBe("model_server");
      const waited = (attempts.at(-1)! - start) / 1000;
      expect(Math.abs(waited - Math.min(forSeconds, awaySeconds))).toBeLessThanOrEqual(70);
    } finally {
      vi.useRealTimers();
    }
  },
);

test.each(["never", "ask"] as const)(
  "a step of the policy %s waits for a server that gets nothing, though the object is unloaded between attempts",
  async (policy) => {
    const attempts: number[] = [];
    const start = Date.now();
    const team = await TestTeam.create(paying(policy, () => start + 150_000, attempts));
    vi.setSystemTime(start);
    try {
      const { id } = await team.start("go");
      await expect.poll(async () => (await team.run(id)).next_attempt_at).not.toBeNull();
      await untilOver(team, id);
      expect(texts(await team.finished(id))).toEqual(["go", "paid"]);
      expect(attempts).toHaveLength(4);
    } finally {
      vi.useRealTimers();
    }
  },
);

test("a retry of a run that was stopped while it waited has all of the patience", async () => {
  const attempts: number[] = [];
  const start = Date.now();
  const hour = 3_600_000;
  const backAt = (): number => start + hour + 30_000;
  const team = await TestTeam.create(waiting(600, backAt, attempts));
  vi.setSystemTime(start);
  try {
    const { id } = await team.start("go");
    await expect.poll(async () => (await team.run(id)).next_attempt_at).not.toBeNull();
    value(await team.gateway.stopRun(id, "now"));
    vi.setSystemTime(start + hour);
    const retry = value(await team.gateway.retryRun(id));
    await expect.poll(async () => (await team.run(retry.id)).next_attempt_at).not.toBeNull();
    await untilOver(team, retry.id);
    expect(texts(await team.finished(retry.id))).toEqual(["back"]);
    expect(attempts).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});
