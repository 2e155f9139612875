// kill -9 in the middle of calls: each client continues at the next process, as its revision of the protocol says.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { PATIENCE } from "../../../support/patience.ts";
import { TestWorker } from "../../../support/worker.ts";
import { inTurn, newTeam, runsOf, writer } from "../support/teams.ts";
import { firstOf, initialize, lastOf, post, request, VERSION } from "./support/messages.ts";
import { ask } from "./support/tasks.ts";

const TEAMS = ["repeated", "resumed", "task"];

let openai: FakeOpenAI;
let persistTo: string;
let worker: TestWorker;
/** What the clients have from the Worker that was killed. */
let session: string;
let lastEventId: string;
let taskId: string;

const repeated = request(7, "tools/call", { name: "run_repeated", arguments: { task: "Hello." } });

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [{ name: "slow", hold: true, reply: { content: "At last." } }],
  });
  persistTo = await mkdtemp(join(tmpdir(), "mcp-server-"));
  const settings = { OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: openai.url };
  {
    await using first = await TestWorker.start(settings, { persistTo });
    for (const id of TEAMS) await newTeam(first, { id, component: inTurn(writer()) });
    session = await initialize(first);
    const headers = { "mcp-session-id": session };
    const lost = post(first, repeated, { headers }).then(lastOf);
    void lost.catch(() => undefined);
    const resumed = request(8, "tools/call", {
      name: "run_resumed",
      arguments: { task: "Hello." },
    });
    const event = await firstOf(await post(first, resumed, { headers }));
    lastEventId = /^id: (\S+)/.exec(event)?.[1] ?? "";
    const given = { name: "run_task", arguments: { task: "Hello." } };
    taskId = (await ask(first, "tools/call", given)).result?.taskId ?? "";
    await openai.held("slow", TEAMS.length);
    // Disposing it is kill -9.
  }
  openai.release("slow");
  worker = await TestWorker.start(settings, { persistTo, quietAbout: "run_recovered" });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
  await rm(persistTo, { recursive: true, force: true });
});

test("the same request in the same session finds the same run", async () => {
  const headers = { "mcp-session-id": session };
  const { result } = await lastOf(await post(worker, repeated, { headers }));
  const runs = await runsOf(worker, "repeated");
  expect(runs).toMatchObject([{ status: "completed" }]);
  expect(result?.structuredContent).toMatchObject({
    run_id: runs[0]?.id,
    status: "completed",
    text: "At last.",
  });
});

test("the stream of a call continues after the event that its client had last", async () => {
  const response = await worker.fetch("/mcp", {
    headers: {
      accept: "text/event-stream",
      "mcp-protocol-version": VERSION,
      "mcp-session-id": session,
      "last-event-id": lastEventId,
    },
  });
  const { id, result } = await lastOf(response);
  expect(id).toBe(8);
  expect(result?.structuredContent).toMatchObject({ status: "completed", text: "At last." });
  expect(await runsOf(worker, "resumed")).toHaveLength(1);
});

test("a task of the revision without sessions can be read", async () => {
  const task = async () => (await ask(worker, "tasks/get", { taskId })).result;
  await expect.poll(async () => (await task())?.status, PATIENCE).toBe("completed");
  expect((await task())?.result?.structuredContent).toMatchObject({ text: "At last." });
  expect(await runsOf(worker, "task")).toHaveLength(1);
});
