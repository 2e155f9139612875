import { beforeEach, describe, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

let fetch: ReturnType<typeof testApp>["fetch"];

beforeEach(async () => {
  ({ fetch } = testApp());
  await fetch("/v1/teams", jsonInit({ id: "t", template: "sample" }));
});

async function start(body: unknown = {}, query = "", headers = {}): Promise<Response> {
  return fetch(`/v1/teams/t/runs${query}`, jsonInit(body, "POST", headers));
}

describe("a request that starts a run", () => {
  test("is accepted at once", async () => {
    const response = await start({ task: "hello" });
    expect(response.status).toBe(202);
    expect(response.headers.get("location")).toBe("/v1/teams/t/runs/run-1");
    const run = (await response.json()) as RunInfo;
    expect(run).not.toHaveProperty("created");
    // Ids and times that were not given are made by the run.
    expect(run.task).toEqual([
      { type: "TextMessage", source: "user", content: "hello", metadata: {}, models_usage: null },
    ]);
  });

  test("keeps the ids and times of its messages", async () => {
    const message = {
      id: "m1",
      type: "TextMessage",
      source: "me",
      content: "a",
      metadata: { k: "v" },
      models_usage: null,
      created_at: "2026-01-01T00:00:00Z",
    };
    expect(((await (await start({ task: message })).json()) as RunInfo).task).toEqual([message]);
    const { id: _, created_at: __, ...rest } = message;
    const again = await start({ task: [rest], on_conflict: "interrupt" });
    expect(((await again.json()) as RunInfo).task).toEqual([rest]);
  });

  test("continues without a task", async () => {
    for (const body of [{ task: null }, {}]) {
      const response = await start({ ...body, on_conflict: "interrupt" });
      expect(((await response.json()) as RunInfo).task).toBeNull();
    }
  });

  test("is answered 200 when the run ends while it waits, else 202", async () => {
    expect((await start({}, "?wait=1")).status).toBe(202);
    const response = await start({ on_conflict: "interrupt" }, "?wait=60");
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ status: "completed" });
  });

  test("is answered with a stream when the client accepts events", async () => {
    const response = await start({}, "", { accept: "application/json;q=0.5, text/event-stream" });
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("location")).toBe("/v1/teams/t/runs/run-1");
    expect(await response.text()).toContain('{"after":0}');
  });

  test.for(["*/*", "application/json", "text/event-stream;q=0", "text/*"])(
    "is not answered with a stream for Accept: %s",
    async (accept) => {
      expect((await start({}, "", { accept })).status).toBe(202);
    },
  );

  test("finds the same run by an idempotency key", async () => {
    const key = { "idempotency-key": "once" };
    const first = (await (await start({ task: "a" }, "", key)).json()) as RunInfo;
    const second = (await (await start({ task: "a" }, "", key)).json()) as RunInfo;
    expect(second.id).toBe(first.id);
  });
});

describe("streams of a run", () => {
  test("continue after Last-Event-ID rather than ?after=", async () => {
    await start();
    const after = async (query: string, headers = {}): Promise<string> =>
      (await fetch(`/v1/teams/t/runs/run-1/events${query}`, { headers })).text();
    expect(await after("")).toContain('{"after":0}');
    expect(await after("?after=5")).toContain('{"after":5}');
    expect(await after("?after=5", { "last-event-id": "9" })).toContain('{"after":9}');
    expect(await (await fetch("/v1/teams/t/events?after=3")).text()).toContain('{"after":3}');
  });

  test("answer 204 when the run is over and nothing is left", async () => {
    await start({}, "?wait=60");
    expect((await fetch("/v1/teams/t/runs/run-1/events?after=5")).status).toBe(204);
  });

  test("are not opened for HEAD", async () => {
    await start();
    for (const path of ["/v1/teams/t/events", "/v1/teams/t/runs/run-1/events"]) {
      const response = await fetch(path, { method: "HEAD" });
      expect(response.status).toBe(200);
      expect(response.headers.get("content-type")).toBe("text/event-stream");
    }
    expect((await fetch("/v1/teams/x/events", { method: "HEAD" })).status).toBe(404);
  });
});

describe("a run", () => {
  test("stops: 202, again 200, ended 409", async () => {
    await start();
    const stop = async (mode: string): Promise<number> =>
      (await fetch("/v1/teams/t/runs/run-1/stop", jsonInit({ mode }))).status;
    expect([await stop("after_turn"), await stop("after_turn")]).toEqual([202, 200]);
    expect([await stop("now"), await stop("now")]).toEqual([200, 409]);
  });

  test("pauses, resumes and is retried", async () => {
    await start();
    for (const action of ["pause", "resume"]) {
      const response = await fetch(`/v1/teams/t/runs/run-1/${action}`, { method: "POST" });
      expect(response.status).toBe(202);
    }
    const early = await fetch("/v1/teams/t/runs/run-1/retry", { method: "POST" });
    expect(early.status).toBe(409);
    await fetch("/v1/teams/t/runs/run-1/stop", jsonInit({ mode: "now" }));
    const retry = await fetch("/v1/teams/t/runs/run-1/retry", { method: "POST" });
    expect(retry.status).toBe(202);
    expect(retry.headers.get("location")).toBe("/v1/teams/t/runs/run-again");
  });

  test("takes texts, messages and approvals as answers", async () => {
    await start();
    const message = { type: "TextMessage", source: "me", content: "a", metadata: {} };
    for (const answer of [
      { content: "yes" },
      { content: { ...message, models_usage: null } },
      { approved: true },
      { approved: false, reason: "no" },
    ]) {
      const response = await fetch("/v1/teams/t/runs/run-1/requests/q1", jsonInit(answer));
      expect(response.status).toBe(200);
      expect(((await response.json()) as RunInfo).metadata).toEqual({ answer });
    }
    // Arguments are passed on as text, whose numbers keep all of their digits.
    const edited = '{"approved":true,"arguments":{"id":9007199254740993}}';
    const path = "/v1/teams/t/runs/run-1/requests/q1";
    const response = await fetch(path, { ...jsonInit({}), body: edited });
    expect(((await response.json()) as RunInfo).metadata).toEqual({
      answer: { approved: true, arguments: '{"id":9007199254740993}' },
    });
    const open = await (await fetch("/v1/teams/t/runs/run-1/requests")).json();
    expect(open).toMatchObject({ requests: [{ id: "q1", kind: "input" }] });
  });

  test("is listed newest first", async () => {
    await start();
    await start({ on_conflict: "interrupt" });
    const page = (await (await fetch("/v1/teams/t/runs?limit=1")).json()) as { runs: RunInfo[] };
    expect(page.runs.map(({ id }) => id)).toEqual(["run-2"]);
  });
});
