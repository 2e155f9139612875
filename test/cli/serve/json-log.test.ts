import { expect, test } from "vitest";
import { JsonLog } from "#cli/serve/json-log.ts";

function logged(write: (log: JsonLog) => void): unknown[] {
  const lines: string[] = [];
  write(new JsonLog((line) => void lines.push(line)));
  return lines.map((line) => JSON.parse(line) as unknown);
}

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

test("a request is logged without its query, which may contain a token", () => {
  const request = { method: "GET", url: "/v1/teams?token=secret", status: 200, ms: 3 };
  expect(logged((log) => log.request(request))).toEqual([
    {
      time: TIME,
      level: "info",
      event: "request",
      method: "GET",
      path: "/v1/teams",
      status: 200,
      ms: 3,
    },
  ]);
});

test("an entry of the Worker, which is JSON in a message of the runtime, becomes fields", () => {
  const message = JSON.stringify({ event: "run_failed", team: "local/demo" });
  const line = JSON.stringify({ timestamp: 1, level: "error", message });
  expect(logged((log) => log.runtimeLine(line))).toEqual([
    { time: TIME, level: "error", event: "run_failed", team: "local/demo" },
  ]);
});

test("text is logged as a message, and noise of the runtime is left out", () => {
  const lines = logged((log) => {
    log.runtimeLine("config is broken");
    log.runtimeLine(JSON.stringify({ level: "log", message: "{not JSON" }));
    log.runtimeLine("Error: Network connection lost.");
  });
  expect(lines).toEqual([
    { time: TIME, level: "error", message: "config is broken" },
    { time: TIME, level: "info", message: "{not JSON" },
  ]);
});
