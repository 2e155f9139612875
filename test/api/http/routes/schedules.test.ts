import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Scope } from "#contract/constants.ts";
import { problemSchema } from "#contract/problem.ts";
import type { RunInfo, RunPage } from "#contract/run.ts";
import { type ScheduleInfo, type SchedulePage, scheduleSchema } from "#contract/team/schedule.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { snippet } from "../../../support/pages.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { PATIENCE } from "../../../support/patience.ts";

const SCOPES: { [key: string]: readonly Scope[] } = {
  writer: ["teams:write", "teams:read", "runs:read", "runs:write"],
  reader: ["runs:read"],
  nobody: ["teams:read"],
};

let worker: TestWorker;
let team: string;
let count = 0;

beforeAll(async () => {
  const keys = Object.entries(SCOPES).map(async ([key, scopes]) => ({
    hash: await sha256Hex(key),
    tenant: "acme",
    scopes,
  }));
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    API_KEYS: JSON.stringify(await Promise.all(keys)),
    TENANT_REQUESTS_PER_SECOND: "1000",
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  team = `team-${++count}`;
  const response = await worker.fetch(
    "/v1/teams",
    jsonInit({ id: team, component: SAMPLE_COMPONENT }, "POST", { authorization: "Bearer writer" }),
  );
  expect(response.status).toBe(201);
});

/** Sends a request below the team's schedules. */
async function ask(
  method: string,
  path = "",
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: unknown }> {
  const all = { authorization: "Bearer writer", ...headers };
  const init = body === undefined ? { method, headers: all } : jsonInit(body, method, all);
  const response = await worker.fetch(`/v1/teams/${team}/schedules${path}`, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === "" ? null : (JSON.parse(text) as unknown),
  };
}

const berlin = { cron: "0 8 * * 1-5", timezone: "Europe/Berlin", task: "Summarize the news." };

describe("a schedule over HTTP", () => {
  test("is created, listed, changed and deleted", async () => {
    const created = await ask("POST", "", { ...berlin, id: "news", metadata: { a: 1 } });
    expect(created.status).toBe(201);
    expect(created.headers.get("location")).toBe(`/v1/teams/${team}/schedules/news`);
    const schedule = scheduleSchema.strict().parse(created.body);
    expect(schedule).toMatchObject({
      id: "news",
      team_id: team,
      cron: "0 8 * * 1-5",
      timezone: "Europe/Berlin",
      at: null,
      task: [{ type: "TextMessage", source: "user", content: "Summarize the news." }],
      on_conflict: "reject",
      enabled: true,
      metadata: { a: 1 },
      last_at: null,
      last_run: null,
      last_error: null,
    });
    expect(Date.parse(schedule.next_at ?? "")).toBeGreaterThan(Date.now());
    expect((await ask("GET", "/news")).body).toEqual(schedule);
    const changed = await ask("PATCH", "/news", { enabled: false, task: null });
    expect(changed).toMatchObject({
      status: 200,
      body: { enabled: false, next_at: null, task: null },
    });
    await ask("POST", "", { at: "2099-01-01T00:00:00+01:00", id: "once" });
    const first = (await ask("GET", "?limit=1")).body as SchedulePage;
    expect(first.schedules).toMatchObject([{ id: "once", at: "2098-12-31T23:00:00.000Z" }]);
    const rest = (await ask("GET", `?cursor=${first.next_cursor}`)).body as SchedulePage;
    expect(rest.schedules).toEqual([changed.body]);
    expect(await ask("DELETE", "/news")).toMatchObject({ status: 204, body: null });
    expect(await ask("GET", "/news")).toMatchObject({ status: 404 });
  });

  test("is created as the page documents", async () => {
    const curl = snippet("Create a schedule", "sh", 0, "docs/schedules.md");
    const [, body = ""] = /-d '(.*)'/.exec(curl) ?? [];
    const { status } = await ask("POST", "", JSON.parse(body));
    expect(status).toBe(201);
    for (const cron of [
      "9-17/2 1,15 * JAN,DEC SUN",
      "0 8 L * *",
      "0 8 15W * *",
      "0 8 * * FRI#2",
      "0 8 * * FRI#L",
      "@daily",
      "0 0 * * 7",
    ]) {
      expect(await ask("POST", "", { cron })).toMatchObject({ status: 201, body: { cron } });
    }
  });

  test("starts its run at its time", async () => {
    const at = new Date(Date.now() + 3_000).toISOString();
    const { status } = await ask("POST", "", { at, task: "go", id: "soon" });
    expect(status).toBe(201);
    const run = await vi.waitFor(async () => {
      const headers = { authorization: "Bearer writer" };
      const response = await worker.fetch(`/v1/teams/${team}/runs`, { headers });
      const { runs } = (await response.json()) as RunPage;
      expect(runs).toMatchObject([
        { metadata: { schedule_id: "soon", scheduled_for: at }, status: "completed" },
      ]);
      return runs[0] as RunInfo;
    }, PATIENCE);
    const { body } = await ask("GET", "/soon");
    expect(body).toMatchObject({ next_at: null, last_at: at, last_run: run.id });
  });

  test("runs now", async () => {
    await ask("POST", "", { ...berlin, id: "news" });
    const key = { "idempotency-key": "k" };
    const started = await ask("POST", "/news/run_now", undefined, key);
    expect(started.status).toBe(202);
    const run = started.body as RunInfo;
    expect(run).not.toHaveProperty("created");
    expect(started.headers.get("location")).toBe(`/v1/teams/${team}/runs/${run.id}`);
    expect(run.metadata).toMatchObject({ schedule_id: "news" });
    const again = await ask("POST", "/news/run_now", undefined, key);
    expect((again.body as RunInfo).id).toBe(run.id);
  });

  test("is created once by an idempotency key", async () => {
    const key = { "idempotency-key": "k" };
    const first = (await ask("POST", "", berlin, key)).body as ScheduleInfo;
    expect((await ask("POST", "", berlin, key)).body).toEqual(first);
    const other = await ask("POST", "", { ...berlin, task: "other" }, key);
    expect(other).toMatchObject({ status: 422, body: { code: "idempotency_mismatch" } });
  });

  test.each([
    [{ cron: "0 25 * * *" }, "cron"],
    [{ cron: "0 0 31 2 *" }, "cron"],
    [{ at: "2020-01-01T00:00:00Z" }, "at"],
  ])("is refused with %j", async (times, path) => {
    const { status, body } = await ask("POST", "", { ...times, task: "go" });
    expect(status).toBe(422);
    expect(problemSchema.strict().parse(body).errors).toMatchObject([{ path }]);
  });

  test("is read with runs:read and changed with runs:write", async () => {
    await ask("POST", "", { ...berlin, id: "news" });
    const as = (key: string) => ({ authorization: `Bearer ${key}` });
    for (const path of ["", "/news"]) {
      expect((await ask("GET", path, undefined, as("reader"))).status).toBe(200);
      expect((await ask("GET", path, undefined, as("nobody"))).status).toBe(403);
    }
    for (const [method, path, body] of [
      ["POST", "", berlin],
      ["PATCH", "/news", {}],
      ["DELETE", "/news", undefined],
      ["POST", "/news/run_now", {}],
    ] as const) {
      expect(await ask(method, path, body, as("reader"))).toMatchObject({
        status: 403,
        body: { code: "missing_scope" },
      });
    }
  });
});
