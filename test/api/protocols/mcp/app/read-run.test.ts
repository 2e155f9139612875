import { expect, test } from "vitest";
import { readRun } from "#api/protocols/mcp/app/read-run.ts";
import { CpuBudget } from "#api/protocols/mcp/session/follow-run.ts";
import type { McpRequest } from "#api/protocols/mcp/session/services.ts";
import { DEFAULT_LIMITS } from "#api/http/endpoint/limits.ts";
import { ok } from "#contract/result.ts";

// What the page of a run gets of streams that end at chosen places.

const TASK = [{ id: "m1", type: "TextMessage", source: "user", content: "Write." }];
const RUNNING = { id: "run-1", status: "running", ended_at: null, requests: [], task: TASK };
const OVER = { ...RUNNING, status: "completed", ended_at: "2026-01-01T00:00:00Z" };

/** A frame of a stream. */
function frame(data: object, { event, id }: { event?: string; id?: number } = {}): string {
  return `${event === undefined ? "" : `event: ${event}\n`}${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`;
}

interface Read {
  frames: { event?: string; data: { task?: unknown } }[];
  seen: string;
  cursor: number;
  more: boolean;
}

/** Reads a run whose stream has these frames; none for one that has nothing else. */
async function read(frames: string[], seen?: string): Promise<Read> {
  const team = {
    stream: async () => ok(frames.length === 0 ? { done: true } : { body: streamOf(frames) }),
    run: async () => ok(OVER),
  };
  const request = {
    principal: { tenant: "local", scopes: ["runs:read"] },
    services: { gateway: { team: () => team }, limits: DEFAULT_LIMITS },
    budget: new CpuBudget(1_000),
  } as unknown as McpRequest;
  const asked = { team_id: "desk", run_id: "run-1", after: 0, wait_seconds: 0, seen };
  const { structuredContent } = await readRun(request, asked, new AbortController().signal);
  return structuredContent as Read;
}

function streamOf(frames: string[]): ReadableStream<Uint8Array> {
  return new Blob(frames).stream();
}

const caughtUp = frame({}, { event: "caught_up" });

test("there is more of a run whose stream broke off, and of one that ended with its stream", async () => {
  const message = frame({ id: "m2", type: "TextMessage", source: "a", content: "Hi." }, { id: 2 });
  const started = frame(RUNNING, { event: "run" });
  const ended = frame(OVER, { event: "run" });
  expect((await read([started, message])).more).toBe(true);
  expect((await read([ended, message])).more).toBe(true);
  expect((await read([started, caughtUp, ended])).more).toBe(true);
  expect((await read([started, message, caughtUp])).more).toBe(false);
  expect((await read([])).more).toBe(false);
});

test("the task is in the first answer, and again when it has changed", async () => {
  const stream = [frame(RUNNING, { event: "run" }), caughtUp];
  const first = await read(stream);
  expect(first.frames[0]?.data.task).toEqual(TASK);
  const next = await read(stream, first.seen);
  expect(next.frames[0]?.data.task).toBeNull();
  expect(next.seen).toBe(first.seen);
  const task = [{ ...TASK[0], content: "Write more." }];
  const changed = await read([frame({ ...RUNNING, task }, { event: "run" }), caughtUp], next.seen);
  expect(changed.frames[0]?.data.task).toEqual(task);
});
