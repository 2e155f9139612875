import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { executionEvents, wantsEvents } from "../http/event-stream.ts";
import { ProblemError } from "../problem.ts";
import { Execution } from "../sessions/execution.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const bytes = (text: string): Uint8Array => Buffer.from(text);

function start(): { execution: Execution; read: () => Promise<string | undefined> } {
  const execution = new Execution({ blocks: [], timeoutMs: 1000 }, 1000);
  const { body } = executionEvents(execution, (error) => error as ProblemError);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  return { execution, read: async () => (await reader.read()).value };
}

test("output in small pieces is one frame, and silence is broken by pings", async () => {
  const { execution, read } = start();
  for (const piece of ["a", "b", "é"]) execution.output.print(bytes(piece));
  vi.advanceTimersByTime(20);
  expect(await read()).toBe('event: output\ndata: {"text":"abé"}\n\n');
  vi.advanceTimersByTime(15_000);
  expect(await read()).toBe(": ping\n\n");
  execution.output.print(bytes("c"));
  const result = { exit_code: 0, output: "abéc", truncated: false, duration_ms: 1, files: [] };
  execution.settle(Promise.resolve(result));
  expect(await read()).toBe('event: output\ndata: {"text":"c"}\n\n');
  expect(await read()).toBe(`event: result\ndata: ${JSON.stringify(result)}\n\n`);
  expect(await read()).toBeUndefined();
  expect(vi.getTimerCount()).toBe(0);
});

test("a fault of the service is an error at the end", async () => {
  const { execution, read } = start();
  execution.settle(Promise.reject(new ProblemError(503, "isolation_failed", "No.")));
  expect(await read()).toMatch(
    /^event: error\ndata: \{"type":"urn:troupe:problem:isolation_failed"/,
  );
  expect(await read()).toBeUndefined();
});

test("no stream is kept for a client that has disconnected", async () => {
  const execution = new Execution({ blocks: [], timeoutMs: 1000 }, 1000);
  const { body } = executionEvents(execution, (error) => error as ProblemError);
  await body!.cancel();
  execution.output.print(bytes("a"));
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ["text/event-stream", true],
  ["application/json, Text/Event-Stream;q=0.5", true],
  ["text/event-stream;q=0", false],
  ["*/*", false],
  [undefined, false],
])("the header Accept: %s requests events: %s", (accept, wanted) => {
  const headers = accept === undefined ? {} : { accept };
  expect(wantsEvents(new Request("http://x", { headers }))).toBe(wanted);
});
