import { describe, expect, test } from "vitest";
import type { RunInfo, RunPage } from "#contract/run.ts";
import { PATIENCE } from "../../../support/patience.ts";
import { atTime, ringAt } from "../../support/clock.ts";
import {
  agent,
  counter,
  type Frame,
  outline,
  roundRobin,
  Signal,
  startInput,
  TestTeam,
  texts,
  value,
} from "../../support/team.ts";

const QUEUE = { on_conflict: "queue" } as const;

/** A team whose agent repeats its task, but stops first when that is "hold". */
async function held(): Promise<{ team: TestTeam; go: Signal; begun: Signal }> {
  const [go, begun] = [new Signal(), new Signal()];
  const component = agent("echo", async function* (_self, ctx, messages) {
    yield* [];
    const last = messages.at(-1);
    const told = last?.type === "TextMessage" ? last.content : "";
    if (told === "fail") throw new TypeError("told to fail");
    if (told === "hold") {
      begun.set();
      await ctx.step("hold", () => go.wait().then(() => null));
    }
    return `${told}!`;
  });
  return { team: await TestTeam.create(roundRobin([component], 1)), go, begun };
}

async function said(team: TestTeam): Promise<unknown[]> {
  const { messages } = value(await team.gateway.messages({ limit: 200 }));
  return messages.map((message) => "content" in message && message.content);
}

async function listed(team: TestTeam): Promise<RunInfo[]> {
  return value(await team.gateway.runs({ limit: 200 })).runs;
}

/** The stream of a run after its first frame, which shows that it is open. */
async function open(team: TestTeam, run: string): Promise<{ rest: Promise<Frame[]> }> {
  const stream = await team.stream(run);
  await stream.next();
  const rest = (async () => {
    const frames: Frame[] = [];
    for await (const frame of stream) frames.push(frame);
    return frames;
  })();
  return { rest };
}

async function refusal(result: Promise<unknown>): Promise<unknown> {
  const { ok, problem } = (await result) as { ok: boolean; problem?: unknown };
  expect(ok).toBe(false);
  return problem;
}

describe("a queued run", () => {
  test("starts at once when the team is idle", async () => {
    const team = await TestTeam.create(roundRobin([counter("a")], 1));
    const run = await team.start("go", QUEUE);
    expect(run).toMatchObject({ status: "running", queue_position: null });
    expect(await team.finished(run.id)).toMatchObject({ status: "completed" });
    expect(await team.sql("select name from sqlite_master where name = 'queue'")).toEqual([]);
  });

  test("waits for the active one, and each starts with the conversation that the one before has left", async () => {
    const { team, go, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const second = await team.start("two", QUEUE);
    const third = await team.start("three", QUEUE);
    expect(second).toMatchObject({
      status: "queued",
      queue_position: 1,
      started_at: null,
      created: true,
    });
    expect(third).toMatchObject({ status: "queued", queue_position: 2, turns: 0, requests: [] });
    expect(await team.run(third.id)).toMatchObject({ queue_position: 2, result: null });
    expect((await listed(team)).map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
    expect(value(await team.gateway.team())).toMatchObject({ active_run: first.id });

    go.set();
    const done = [await team.finished(first.id), await team.finished(second.id)];
    done.push(await team.finished(third.id));
    expect(done.map(texts)).toEqual([
      ["hold", "hold!"],
      ["two", "two!"],
      ["three", "three!"],
    ]);
    expect(done.map(({ turn }) => turn)).toEqual([2, 4, 6]);
    expect(await said(team)).toEqual(["hold", "hold!", "two", "two!", "three", "three!"]);
    for (const [index, run] of [first, second, third].entries()) {
      const { created_at, started_at, ended_at, task } = done[index]!;
      expect(created_at).toBe(run.created_at);
      expect(task).toEqual(run.task);
      const before = done[index - 1]?.ended_at ?? created_at;
      expect(Date.parse(started_at ?? "")).toBeGreaterThanOrEqual(Date.parse(before));
      expect(Date.parse(ended_at ?? "")).toBeGreaterThanOrEqual(Date.parse(started_at ?? ""));
    }
    expect((await listed(team)).map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
    expect(await team.alarm()).toBeNull();
    expect(await team.sql("select * from queue")).toEqual([]);
    expect(await team.sql("select name from sqlite_master where name = 'part'")).toEqual([]);
  });

  test.for(["completes", "fails", "is cancelled", "reaches its time limit"])(
    "starts when the active one %s",
    async (how) => {
      const { team, go, begun } = await held();
      const limit = how === "reaches its time limit" ? { timeout_seconds: 60 } : {};
      const first = await team.start(how === "fails" ? "fail" : "hold", limit);
      const second = await team.start("two", QUEUE);
      if (how === "completes") go.set();
      if (how === "is cancelled") {
        await begun.wait();
        value(await team.gateway.stopRun(first.id, "now"));
      }
      if (how === "reaches its time limit") {
        await begun.wait();
        await ringAt(team, Date.now() + 61_000);
      }
      expect(texts(await team.finished(second.id))).toEqual(["two", "two!"]);
      const status = { completes: "completed", "is cancelled": "cancelled" }[how] ?? "failed";
      expect(await team.run(first.id)).toMatchObject({ status });
    },
  );

  test("waits behind a run that waits for a human, and its time limit counts from its start", async () => {
    const human = { provider: "UserProxyAgent", config: { name: "human" } };
    const team = await TestTeam.create(roundRobin([human], 1));
    const first = await team.start("one");
    const asked = await team.rested(first.id);
    const second = await team.start("two", { ...QUEUE, timeout_seconds: 5 });
    await team.evict();
    expect(await team.alarm()).toBeNull();
    expect(await team.run(second.id)).toMatchObject({ status: "queued", queue_position: 1 });
    const later = Date.now() + 1_000;
    const waits = await atTime(later, async () => {
      value(await team.gateway.answer(first.id, asked.requests[0]?.id ?? "", { content: "yes" }));
      return value(await team.gateway.waitForRun(second.id, PATIENCE.timeout));
    });
    expect(waits).toMatchObject({ status: "waiting", ended_at: null });
    expect(Date.parse(waits.started_at ?? "")).toBe(later);
    const [record] = await team.sql<{ record: string }>(
      "select record from run order by seq desc limit 1",
    );
    const { first_moment } = JSON.parse(record?.record ?? "") as { first_moment: { at: number } };
    expect(first_moment.at).toBe(Date.parse(waits.started_at ?? ""));
  });

  test("is known by its idempotency key, queued and later", async () => {
    const { team, go, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const options = { ...QUEUE, idempotency: { key: "k", hash: "h" } };
    const queued = await team.start("two", options);
    expect(await team.start("two", options)).toMatchObject({ id: queued.id, created: false });
    go.set();
    await team.finished(first.id);
    await team.finished(queued.id);
    expect(await team.start("two", options)).toMatchObject({ id: queued.id, created: false });
    expect(await listed(team)).toHaveLength(2);
  });

  test("keeps the team from being changed, and cannot be paused or answered", async () => {
    const { team, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const queued = await team.start("two", QUEUE);
    const { gateway } = team;
    const busy = { status: 409, code: "team_busy", extra: { run_id: first.id } };
    expect(await refusal(gateway.reset())).toMatchObject(busy);
    expect(await refusal(gateway.startRun(startInput("three")))).toMatchObject(busy);
    const notStarted = { status: 409, code: "run_queued" };
    expect(await refusal(gateway.pauseRun(queued.id))).toMatchObject(notStarted);
    expect(await refusal(gateway.resumeRun(queued.id))).toMatchObject(notStarted);
    expect(await refusal(gateway.answer(queued.id, "q", { content: "" }))).toMatchObject(
      notStarted,
    );
    expect(value(await gateway.requests(queued.id))).toEqual([]);
    expect(await refusal(gateway.retryRun(queued.id))).toMatchObject({ code: "not_retryable" });
  });

  test("lets only the run be retried that started last", async () => {
    const { team, begun } = await held();
    const failing = await team.start("fail");
    await team.finished(failing.id);
    const first = await team.start("hold");
    await begun.wait();
    const queued = await team.start("fail", QUEUE);
    const dropped = await team.start("three", QUEUE);
    value(await team.gateway.stopRun(dropped.id, "now"));
    value(await team.gateway.stopRun(first.id, "now"));
    expect(await team.finished(queued.id)).toMatchObject({ status: "failed" });
    expect(await refusal(team.gateway.retryRun(first.id))).toMatchObject({
      code: "not_latest_run",
    });
    expect(await refusal(team.gateway.retryRun(dropped.id))).toMatchObject({
      code: "not_retryable",
    });
    const retry = value(await team.gateway.retryRun(queued.id));
    expect(retry).toMatchObject({ retry_of: queued.id, status: "running" });
  });

  test("starts after a new run that interrupts", async () => {
    const { team, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const queued = await team.start("two", QUEUE);
    const urgent = await team.start("three", { on_conflict: "interrupt" });
    expect(urgent.status).toBe("running");
    await team.finished(queued.id);
    expect(await team.run(first.id)).toMatchObject({ status: "cancelled" });
    expect(await said(team)).toEqual(["hold", "three", "three!", "two", "two!"]);
    expect((await listed(team)).map(({ id }) => id)).toEqual([queued.id, urgent.id, first.id]);
  });

  test("is refused when 100 are queued", async () => {
    const { team, begun } = await held();
    await team.start("hold");
    await begun.wait();
    for (let n = 1; n <= 100; n++) await team.start(null, QUEUE);
    await team.delivered();
    const before = await team.rowsWritten();
    const options = { ...QUEUE, idempotency: { key: "over", hash: "h" } };
    expect(await refusal(team.gateway.startRun(startInput("over", options)))).toMatchObject({
      status: 429,
      code: "too_many_queued_runs",
      retry_after: expect.any(Number),
      extra: { limit: "queued_runs", value: 100 },
    });
    expect(await team.rowsWritten()).toBe(before);
    const pages: RunInfo[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: RunPage = value(await team.gateway.runs({ limit: 7, ...(cursor && { cursor }) }));
      pages.push(...page.runs);
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(await listed(team));
    expect(pages.map(({ queue_position }) => queue_position)).toEqual([
      ...Array.from({ length: 100 }, (_, index) => 100 - index),
      null,
    ]);
  });

  test("has a large task, which is kept in parts", async () => {
    const { team, go, begun } = await held();
    await team.start("hold");
    await begun.wait();
    const long = "x".repeat(1_500_000);
    const queued = await team.start(long, QUEUE);
    await team.crash();
    go.set();
    expect(queued.status).toBe("queued");
    await team.finished(queued.id);
    expect((await said(team)).at(-1)).toHaveLength(long.length + 1);
    expect(await team.sql("select n from part where owner like 'queue:%'")).toEqual([]);
  });

  test("a team that is deleted takes its queue with it", async () => {
    const { team, begun } = await held();
    await team.start("hold");
    await begun.wait();
    const queued = await team.start("two", QUEUE);
    const own = await open(team, queued.id);
    const waiting = team.gateway.waitForRun(queued.id, PATIENCE.timeout);
    await team.run(queued.id);
    value(await team.gateway.destroy());
    expect(outline(await own.rest)).toEqual(["caught_up", "run cancelled"]);
    expect(await refusal(waiting)).toMatchObject({ code: "team_not_found" });
    expect(await team.alarm()).toBeNull();
  });
});

describe("cancelling a queued run", () => {
  test.for(["now", "after_turn"] as const)("happens at once (%s)", async (mode) => {
    const { team, go, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const second = await team.start("two", QUEUE);
    const third = await team.start("three", QUEUE);
    const waiting = team.gateway.waitForRun(second.id, PATIENCE.timeout);
    expect(value(await team.gateway.stopRun(second.id, mode))).toMatchObject({
      status: "cancelled",
      repeated: false,
      queue_position: null,
      started_at: null,
      ended_at: expect.any(String),
    });
    expect(value(await waiting)).toMatchObject({ status: "cancelled" });
    expect(value(await team.gateway.stopRun(second.id, mode)).repeated).toBe(true);
    const other = mode === "now" ? "after_turn" : "now";
    expect(await refusal(team.gateway.stopRun(second.id, other))).toMatchObject({
      code: "run_ended",
    });
    expect(await team.run(third.id)).toMatchObject({ queue_position: 1 });
    await team.crash();
    go.set();
    await team.finished(third.id);
    expect(await said(team)).toEqual(["hold", "hold!", "three", "three!"]);
    expect(await team.run(second.id)).toMatchObject({ status: "cancelled", task: second.task });
    expect((await listed(team)).map(({ id }) => id)).toEqual([third.id, second.id, first.id]);
  });

  test("pages show cancelled ones where they were cancelled", async () => {
    const { team } = await held();
    const ids: string[] = [];
    for (const task of ["hold", "hold"]) {
      ids.push((await team.start(task, { on_conflict: "interrupt" })).id);
      for (let n = 0; n < 3; n++) {
        const { id } = await team.start(`${n}`, QUEUE);
        value(await team.gateway.stopRun(id, "now"));
        ids.push(id);
      }
    }
    for (let limit = 1; limit <= 5; limit++) {
      const pages: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const page: RunPage = value(await team.gateway.runs({ limit, ...(cursor && { cursor }) }));
        pages.push(...page.runs.map(({ id }) => id));
        cursor = page.next_cursor;
      }
      expect(pages).toEqual(ids.toReversed());
    }
    expect(await refusal(team.gateway.runs({ limit: 1, cursor: "x.1" }))).toMatchObject({
      code: "invalid_cursor",
    });
  });
});

describe("the stream of a queued run", () => {
  test("stays open and continues with the run's items, and with nothing else", async () => {
    const { team, go, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const opened = await team.startStream("two", QUEUE);
    const own = (async () => {
      const frames: Frame[] = [];
      for await (const frame of opened) frames.push(frame);
      return frames;
    })();
    const all: unknown[] = [];
    const ofTeam = await team.stream(null);
    await ofTeam.next();
    const watching = (async () => {
      for await (const frame of ofTeam) {
        all.push(...outline([frame]));
        if (all.at(-1) === "run completed" && all.includes("two!")) return;
      }
    })();
    const [second] = await listed(team);
    const third = await team.start("three", QUEUE);
    value(await team.gateway.stopRun(third.id, "now"));
    go.set();
    expect(outline(await own)).toEqual([
      "run queued",
      "caught_up",
      "run running",
      "two",
      "two!",
      "run completed",
      "TaskResult",
    ]);
    await watching;
    expect(all).toEqual(expect.arrayContaining(["run queued", "run cancelled", "hold!", "two"]));
    // Later streams read it from the log, where the cancellation of the third stands among the events of the first.
    expect(outline(await team.frames(first.id))).toEqual([
      "run completed",
      "hold",
      "hold!",
      "TaskResult",
    ]);
    expect(outline(await team.frames(second?.id ?? ""))).toEqual([
      "run completed",
      "two",
      "two!",
      "TaskResult",
    ]);
  });

  test("ends with the cancellation, which has a cursor", async () => {
    const { team, begun } = await held();
    const first = await team.start("hold");
    await begun.wait();
    const { id } = await team.start("two", QUEUE);
    const [own, active] = [await open(team, id), await open(team, first.id)];
    value(await team.gateway.stopRun(id, "now"));
    const frames = await own.rest;
    expect(outline(frames)).toEqual(["caught_up", "run cancelled"]);
    expect(frames.at(-1)?.data).toMatchObject({ id, status: "cancelled", started_at: null });
    const replayed = await team.frames(id);
    expect(outline(replayed)).toEqual(["run queued", "run cancelled"]);
    expect(replayed.at(-1)).toEqual(frames.at(-1));
    expect(await team.frames(id, frames.at(-1)?.id)).toEqual([]);
    value(await team.gateway.stopRun(first.id, "now"));
    expect(outline(await active.rest).filter((one) => one === "run cancelled")).toHaveLength(1);
  });

  test("stays open while the active run waits for a human, and the object is unloaded", async () => {
    const human = { provider: "UserProxyAgent", config: { name: "human" } };
    const team = await TestTeam.create(roundRobin([human], 1));
    const first = await team.start("one");
    const asked = await team.rested(first.id);
    const second = await team.start("two", QUEUE);
    const seen: Frame[] = [];
    for await (const frame of await team.stream(second.id)) {
      seen.push(frame);
      const shown = outline(seen);
      if (shown.at(-1) === "caught_up" && !shown.includes("two")) {
        await team.evict();
        const [request] = asked.requests;
        await team.gateway.answer(first.id, request?.id ?? "", { content: "yes" });
      }
      if (shown.includes("two") && shown.includes("run waiting")) break;
    }
    expect(outline(seen).filter((one) => one === "two")).toHaveLength(1);
    expect(await team.run(first.id)).toMatchObject({ status: "completed" });
  });
});

describe("a queue whose object is lost", () => {
  test("starts its runs in order after a crash in the middle of the active one", async () => {
    const { team, go, begun } = await held();
    await team.start("hold");
    await begun.wait();
    const queued = [await team.start("two", QUEUE), await team.start("three", QUEUE)];
    await team.crash();
    go.set();
    for (const { id } of queued) await team.finished(id);
    expect(await said(team)).toEqual(["hold", "hold!", "two", "two!", "three", "three!"]);
  });

  test("starts with the object if no run is active", async () => {
    const human = { provider: "UserProxyAgent", config: { name: "human" } };
    const team = await TestTeam.create(roundRobin([human], 1));
    const first = await team.start("one");
    const asked = await team.rested(first.id);
    const queued = await team.start("two", QUEUE);
    await team.evict();
    // As a version of the code leaves it that knows no queue.
    await team.sql(`update run set record = json_set(record, '$.status', 'cancelled')`);
    await team.sql("delete from question");
    await team.evict();
    expect(value(await team.gateway.team())).toMatchObject({ active_run: queued.id });
    const waits = await team.rested(queued.id);
    expect(waits).toMatchObject({ status: "waiting" });
    expect(waits.requests[0]?.id).not.toBe(asked.requests[0]?.id);
  });
});
