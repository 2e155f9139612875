import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Scope, SCOPES } from "#contract/constants.ts";
import type { RunInfo, RunPage } from "#contract/run.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

const ADMIN = "admin-secret";
const READER = "reader-secret";

/** A run of it waits for a human. */
const HUMAN = { provider: "UserProxyAgent", config: { name: "human" } };

let worker: TestWorker;
let count = 0;
let runs: string;
/** The active run. */
let first: RunInfo;

beforeAll(async () => {
  const scopes: Scope[] = ["runs:read"];
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    TENANT_REQUESTS_PER_SECOND: "1000",
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(ADMIN), tenant: "acme", scopes: SCOPES },
      { hash: await sha256Hex(READER), tenant: "acme", scopes },
    ]),
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  const id = `team-${++count}`;
  const component = {
    provider: "RoundRobinGroupChat",
    config: { participants: [HUMAN], max_turns: 1 },
  };
  expect((await ask("/v1/teams", { id, component })).status).toBe(201);
  runs = `/v1/teams/${id}/runs`;
  first = await json(ask(`${runs}?wait=60`, { task: "one" }));
  expect(first.status).toBe("waiting");
});

/** A body makes it a POST. */
function ask(path: string, body?: unknown, headers = {}, key = ADMIN): Promise<Response> {
  const all = { authorization: `Bearer ${key}`, ...headers };
  return worker.fetch(path, body === undefined ? { headers: all } : jsonInit(body, "POST", all));
}

async function json<T = RunInfo>(response: Promise<Response>): Promise<T> {
  return (await (await response).json()) as T;
}

function queue(task: string, query = "", headers = {}): Promise<Response> {
  return ask(`${runs}${query}`, { task, on_conflict: "queue" }, headers);
}

/** Answers the question of a run that waits. */
async function answer({ id }: RunInfo): Promise<void> {
  const { requests } = await json(ask(`${runs}/${id}`));
  const path = `${runs}/${id}/requests/${requests[0]?.id}`;
  expect((await ask(path, { content: "yes" })).status).toBe(200);
}

describe("on_conflict: queue", () => {
  test("answers 202 with the queued run, which is listed, shown and started in its turn", async () => {
    const response = await queue("two");
    expect(response.status).toBe(202);
    const run = (await response.json()) as RunInfo;
    expect(response.headers.get("location")).toBe(`${runs}/${run.id}`);
    expect(run).toMatchObject({ status: "queued", queue_position: 1, started_at: null });
    expect(await json(ask(`${runs}/${run.id}`, undefined, {}, READER))).toMatchObject({
      status: "queued",
      queue_position: 1,
    });
    const page = await json<RunPage>(ask(runs));
    expect(page.runs.map(({ status }) => status)).toEqual(["queued", "waiting"]);
    await answer(first);
    const path = `${runs}/${run.id}`;
    await expect
      .poll(() => json(ask(path)))
      .toMatchObject({
        status: "waiting",
        queue_position: null,
      });
    expect(await json(ask(`${runs}/${first.id}`))).toMatchObject({ status: "completed" });
  });

  test("waits with ?wait= while the run is queued", async () => {
    const over = await queue("two", "?wait=1");
    expect(over.status).toBe(202);
    const { id, status } = (await over.json()) as RunInfo;
    expect(status).toBe("queued");
    const waiting = queue("three", "?wait=60");
    await answer(first);
    await expect
      .poll(() => json(ask(`${runs}/${id}`)))
      .toMatchObject({
        status: "waiting",
      });
    expect((await ask(`${runs}/${id}/stop`, { mode: "now" })).status).toBe(202);
    // It ends to wait when its run waits for the human, not when the one before ended.
    expect(await json(waiting)).toMatchObject({ status: "waiting", task: [{ content: "three" }] });
  });

  test("opens a stream that begins with the queued run and ends with its cancellation", async () => {
    const response = await queue("two", "", { accept: "text/event-stream" });
    expect(response.status).toBe(200);
    const location = response.headers.get("location") ?? "";
    const text = response.text();
    for (const status of [202, 200]) {
      expect((await ask(`${location}/stop`, { mode: "after_turn" })).status).toBe(status);
    }
    const frames = (await text).split("\n\n").filter((frame) => frame.includes("data: "));
    expect(frames.map((frame) => /event: (\w+)/.exec(frame)?.[1])).toEqual([
      "run",
      "caught_up",
      "run",
    ]);
    expect(frames[0]).toContain('"status":"queued","queue_position":1');
    expect(frames[2]).toMatch(/^event: run\nid: \d+\n.*"status":"cancelled"/);
    const id = /id: (\d+)/.exec(frames[2] ?? "")?.[1] ?? "";
    expect((await ask(`${location}/events`, undefined, { "last-event-id": id })).status).toBe(204);
  });

  test("creates one queued run for one key", async () => {
    const key = { "idempotency-key": "once" };
    const { id } = await json(queue("two", "", key));
    expect(await json(queue("two", "", key))).toMatchObject({ id, status: "queued" });
    expect((await queue("three", "", key)).status).toBe(422);
    expect((await json<RunPage>(ask(runs))).runs).toHaveLength(2);
  });

  test("answers the 101st run with 429 and the limit, and does not store it", async () => {
    for (let n = 0; n < 100; n++) expect((await queue(`${n}`)).status).toBe(202);
    const response = await queue("over");
    expect(response.status).toBe(429);
    expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await response.json()).toMatchObject({
      code: "too_many_queued_runs",
      limit: "queued_runs",
      value: 100,
    });
    expect((await json<RunPage>(ask(`${runs}?limit=200`))).runs).toHaveLength(101);
  });

  test("answers 409 with a reason to a command that a queued run does not accept", async () => {
    const { id } = await json(queue("two"));
    const problem = { code: "run_queued", detail: expect.stringContaining("queued") };
    for (const action of ["pause", "resume", "requests/q"]) {
      const response = await ask(
        `${runs}/${id}/${action}`,
        action === "requests/q" ? { content: "" } : {},
      );
      expect([action, response.status]).toEqual([action, 409]);
      expect(await response.json()).toMatchObject(problem);
    }
    const stop = (mode: string): Promise<Response> => ask(`${runs}/${id}/stop`, { mode });
    expect((await stop("now")).status).toBe(202);
    expect(await json(stop("after_turn"))).toMatchObject({ code: "run_ended" });
  });

  test("lets the task be changed until the run starts", async () => {
    const { id } = await json(queue("two"));
    const path = `${runs}/${id}`;
    const change = (body: object, key = ADMIN): Promise<Response> =>
      worker.fetch(path, jsonInit(body, "PATCH", { authorization: `Bearer ${key}` }));
    const stream = await ask(`${path}/events`, undefined, { accept: "text/event-stream" });
    const text = stream.text();
    const changed = await change({ task: "better" });
    expect(changed.status).toBe(200);
    expect(await changed.json()).toMatchObject({
      id,
      status: "queued",
      queue_position: 1,
      task: [{ type: "TextMessage", source: "user", content: "better" }],
    });
    expect(await json(ask(path))).toMatchObject({ task: [{ content: "better" }] });
    expect((await change({ task: "no" }, READER)).status).toBe(403);
    expect(await json(change({ task: 1 }))).toMatchObject({ code: "invalid_task" });
    expect(await json(change({}))).toMatchObject({ errors: [{ path: "task" }] });
    expect(await json(change({ task: "no", timeout_seconds: 1 }))).toMatchObject({
      code: "invalid_request",
    });
    await answer(first);
    await expect
      .poll(() => json(ask(path)))
      .toMatchObject({ status: "waiting", task: [{ content: "better" }] });
    const late = await change({ task: "too late" });
    expect(late.status).toBe(409);
    expect(await late.json()).toMatchObject({
      code: "run_started",
      detail: "The run is waiting; only the task of a queued run can be changed.",
    });
    expect((await ask(`${path}/stop`, { mode: "now" })).status).toBe(202);
    const shown = (await text).split("\n\n").filter((frame) => frame.startsWith("event: run"));
    expect(shown[0]).toContain('"content":"two"');
    expect(shown[1]).toContain('"content":"better"');
    expect(await json(change({ task: "too late" }))).toMatchObject({ code: "run_started" });
  });
});
