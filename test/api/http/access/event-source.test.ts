import { expect, test } from "vitest";
import { allowedOrigins } from "#api/http/access/cors.ts";
import { jsonInit, testApp } from "../../../support/http-app.ts";

const STREAM = "text/event-stream";
const EVENTS = "/v1/teams/a/events?token=t";
const PAGE = "https://app.example";

test.for<[string, number, number | undefined, RequestInit, string | number]>([
  ["/v1/events", 429, 1, { headers: { accept: STREAM } }, "retry: 5000\n\n"],
  [EVENTS, 429, 7, { headers: { accept: STREAM } }, "retry: 7000\n\n"],
  [EVENTS, 503, 1, { headers: { accept: STREAM } }, "retry: 5000\n\n"],
  ["/v1/teams/a/runs/b/events", 503, 5, { headers: { accept: STREAM } }, "retry: 5000\n\n"],
  ["/v1/teams/a/conversation/events", 429, 2, { headers: { accept: STREAM } }, "retry: 5000\n\n"],
  ["/v1/teams/a/elsewhere", 429, 1, { headers: { accept: STREAM } }, "retry: 5000\n\n"],
  // It does not pass.
  [EVENTS, 503, undefined, { headers: { accept: STREAM } }, 503],
  [EVENTS, 401, undefined, { headers: { accept: STREAM } }, 401],
  [EVENTS, 404, undefined, { headers: { accept: STREAM } }, 404],
  [EVENTS, 422, undefined, { headers: { accept: STREAM } }, 422],
  [EVENTS, 500, undefined, { headers: { accept: STREAM } }, 500],
  // No EventSource sends it.
  [EVENTS, 429, 1, { headers: { accept: STREAM, authorization: "Bearer k" } }, 429],
  [EVENTS, 503, 1, { headers: { accept: `${STREAM}, application/problem+json` } }, 503],
  [EVENTS, 429, 1, { headers: { accept: "*/*" } }, 429],
  [EVENTS, 429, 1, {}, 429],
  [EVENTS, 429, 1, { method: "HEAD", headers: { accept: STREAM } }, 429],
  ["/v1/teams/a/runs", 429, 1, jsonInit({ task: "x" }, "POST", { accept: STREAM }), 429],
])(
  "an EventSource that is %s is refused with %d after %s s",
  async ([path, status, retry_after, init, expected]) => {
    const problem = { status, code: "refused", detail: "No.", ...(retry_after && { retry_after }) };
    const { fetch } = testApp({
      authenticate: async () => ({ problem }),
      origins: allowedOrigins("*"),
    });
    const headers = { ...(init.headers as Record<string, string> | undefined), origin: PAGE };
    const response = await fetch(path, { ...init, headers });
    if (typeof expected === "number") {
      expect(response.status).toBe(expected);
      return;
    }
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(STREAM);
    // A browser gives up on a stream that its page may not read.
    expect(response.headers.get("access-control-allow-origin")).toBe(PAGE);
    expect(await response.text()).toBe(expected);
  },
);
