import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { HUMAN, inTurn, newTeam, runsOf, writer } from "../../support/teams.ts";
import { initialize, lastOf, post, request } from "../support/messages.ts";
import {
  ask,
  connectWithTasks,
  NO_FORMS,
  type SentTask,
  type Task,
  TASKS,
} from "../support/tasks.ts";

let openai: FakeOpenAI;
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "slow", match: { any: "slowly" }, hold: true, reply: { content: "At last." } },
      { name: "fail", match: { any: "fail" }, fault: { kind: "status", status: 400 } },
      { name: "write", reply: { content: "Done." } },
    ],
  });
  worker = await TestWorker.start({ OPENAI_API_KEY: "test-key", OPENAI_BASE_URL: openai.url });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(() => {
  id = `team${++count}`;
  openai.rules.hold("slow");
});

const call = (task: string, given: object = {}, sent: SentTask = {}) =>
  ask(worker, "tools/call", { name: `run_${id}`, arguments: { task, ...given } }, sent);

/** Gives the team a task, and returns the id of the one that the call is answered with. */
async function started(task: string, sent: SentTask = {}): Promise<string> {
  const { result } = await call(task, {}, sent);
  return result!.taskId;
}

async function get(taskId: string, sent: SentTask = {}): Promise<Task> {
  const { result, error } = await ask(worker, "tasks/get", { taskId }, sent);
  if (result === undefined) throw new Error(error?.message);
  return result;
}

/** The task once it has this status. */
async function reached(taskId: string, status: string, sent: SentTask = {}): Promise<Task> {
  await expect.poll(async () => (await get(taskId, sent)).status).toBe(status);
  return get(taskId, sent);
}

test("the extension is declared in the revision that has it, and in no other", async () => {
  const discovered = await ask(worker, "server/discover", {});
  expect(discovered.result).toMatchObject({ capabilities: { extensions: { [TASKS]: {} } } });
  const begun = await post(
    worker,
    request(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: { extensions: { [TASKS]: {} } },
      clientInfo: { name: "test", version: "1" },
    }),
  );
  expect(JSON.stringify(await lastOf(begun))).not.toContain("tasks");
  const headers = { "mcp-session-id": await initialize(worker) };
  const asked = await post(worker, request(1, "tasks/get", { taskId: "a/b" }), { headers });
  expect((await lastOf(asked)).error).toMatchObject({ code: -32_601 });
});

describe("a client that knows tasks", () => {
  test("gets a task at once, and the result of the call with it later", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    const { result: created } = await call("Write slowly.");
    expect(created).toMatchObject({
      resultType: "task",
      status: "working",
      ttlMs: null,
      pollIntervalMs: 1000,
    });
    expect(created).not.toHaveProperty("content");
    const [run] = await runsOf(worker, id);
    expect(created!.taskId).toBe(`${id}/${run!.id}`);
    expect(await get(created!.taskId)).toMatchObject({ resultType: "complete", status: "working" });
    openai.release("slow");
    const done = await reached(created!.taskId, "completed");
    expect(done.result).toMatchObject({
      content: [{ type: "text", text: "At last." }],
      structuredContent: { team_id: id, run_id: run!.id, status: "completed", text: "At last." },
    });
    expect(Date.parse(done.lastUpdatedAt)).toBeGreaterThan(Date.parse(done.createdAt));
    expect(await runsOf(worker, id)).toHaveLength(1);
  });

  test("may wait first for the result, or for a task when that is not enough", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    const quick = await call("Write.", { wait_seconds: 20 });
    expect(quick.result).toMatchObject({
      resultType: "complete",
      structuredContent: { status: "completed", text: "Done." },
    });
    const slow = await call("Write slowly.", { wait_seconds: 1 });
    expect(slow.result).toMatchObject({ resultType: "task", status: "working" });
  });

  test("answers the questions of the run, and other answers have no effect", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN) });
    const taskId = await started("Ask.");
    const { inputRequests, statusMessage } = await reached(taskId, "input_required");
    expect(statusMessage).toBe("Which city?");
    const [key = "", ...others] = Object.keys(inputRequests!);
    expect(others).toEqual([]);
    expect(inputRequests![key]).toMatchObject({
      method: "elicitation/create",
      params: { mode: "form", message: "Which city?" },
    });
    const update = (inputResponses: object) =>
      ask(worker, "tasks/update", { taskId, inputResponses });
    const lisbon = { action: "accept", content: { content: "Lisbon" } };
    for (const nothing of [{}, { "input:unknown": lisbon }, { [key]: { action: "cancel" } }]) {
      const { result } = await update(nothing);
      expect(result).toMatchObject({ resultType: "complete" });
      expect(result).not.toHaveProperty("status");
      expect((await get(taskId)).status).toBe("input_required");
    }
    await update({ [key]: lisbon });
    const { result } = await reached(taskId, "completed");
    expect(result?.structuredContent.text).toBe("Lisbon");
    expect((await update({ [key]: lisbon })).result).toMatchObject({ resultType: "complete" });
  });

  test("that has no forms gets a result with instructions to answer", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN) });
    const sent = { capabilities: NO_FORMS };
    const { result } = await reached(await started("Ask.", sent), "completed", sent);
    expect(result?.structuredContent.status).toBe("waiting");
    expect(result?.content[0]?.text).toContain("answer_request");
  });

  test("cancels the run, and a second or late request changes nothing", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    const taskId = await started("Write slowly.");
    for (const _ of [1, 2]) {
      const { result } = await ask(worker, "tasks/cancel", { taskId });
      expect(result).toMatchObject({ resultType: "complete" });
      expect((await reached(taskId, "cancelled")).result).toBeUndefined();
    }
    expect(await runsOf(worker, id)).toMatchObject([{ status: "cancelled" }]);
    openai.release("slow");
    const quick = await started("Write.");
    await reached(quick, "completed");
    expect((await ask(worker, "tasks/cancel", { taskId: quick })).error).toBeUndefined();
    expect((await get(quick)).status).toBe("completed");
  });

  test("sees a run that failed as a tool that reports an error", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    const { result } = await reached(await started("Please fail."), "completed");
    expect(result).toMatchObject({ isError: true, structuredContent: { status: "failed" } });
  });

  test("repeats with each request that it knows tasks", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    const taskId = await started("Write slowly.");
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const refused = await ask(worker, method, { taskId }, { capabilities: {} });
      expect(refused).toMatchObject({
        status: 400,
        error: { code: -32_021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } },
      });
    }
    const unaware = await call("Write.", { wait_seconds: 0 }, { capabilities: {} });
    expect(unaware.result).toMatchObject({
      resultType: "complete",
      structuredContent: { status: "queued" },
    });
    expect((await get(taskId)).status).toBe("working");
  });

  test("that uses the SDK calls a tool as before, while the task below is polled and its question answered", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN, writer()) });
    const url = new URL("/mcp", await worker.origin);
    const forms: string[] = [];
    await using connected = await connectWithTasks(worker, {
      url,
      fill: ({ message }) => {
        forms.push(message);
        return { action: "accept", content: { content: "Lisbon" } };
      },
    });
    const { client, tasks } = connected;
    expect(client.getServerCapabilities()?.extensions).toEqual({ [TASKS]: {} });
    const result = await client.callTool({ name: `run_${id}`, arguments: { task: "Ask." } });
    expect(result.structuredContent).toMatchObject({ status: "completed", text: "Done." });
    expect(forms).toEqual(["Which city?"]);
    expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(1);
    expect(await runsOf(worker, id)).toHaveLength(1);
  });
});

describe("a call that is repeated", () => {
  test.each([
    ["a client that knows tasks", {}],
    ["one that waits", { capabilities: {} }],
  ])("that is identified by %s finds its run while that is active", async (_, sent: SentTask) => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    const cut = new AbortController();
    const lost = call("Write slowly.", { wait_seconds: 20 }, { ...sent, signal: cut.signal });
    await expect.poll(async () => (await runsOf(worker, id)).length).toBe(1);
    cut.abort();
    await expect(lost).rejects.toThrow("abort");
    const again = await call("Write slowly.", { wait_seconds: 0 }, sent);
    expect(again.result?._meta).toMatchObject({ "troupe/repeated": true });
    const [run, ...others] = await runsOf(worker, id);
    expect(others).toEqual([]);
    expect(JSON.stringify(again.result)).toContain(run!.id);
    // Another task, and another key, is another call: it has its turn later.
    await call("Write slowly, too.", { wait_seconds: 0 }, sent);
    await ask(worker, "tools/call", {
      name: `run_${id}`,
      arguments: { task: "Write slowly.", wait_seconds: 0 },
      _meta: { "troupe/idempotency-key": "another" },
    });
    const queued = await call("Write slowly, too.", { wait_seconds: 0 }, sent);
    expect(queued.result?._meta).toMatchObject({ "troupe/repeated": true });
    expect((await runsOf(worker, id)).map(({ status }) => status).toSorted()).toEqual([
      "queued",
      "queued",
      "running",
    ]);
  });

  test("that comes after the end of its run is a new one", async () => {
    await newTeam(worker, { id, component: inTurn(writer()) });
    for (const _ of [1, 2]) {
      const { result } = await call("Write.", { wait_seconds: 20 });
      expect(result?._meta).not.toHaveProperty("troupe/repeated");
    }
    expect(await runsOf(worker, id)).toHaveLength(2);
  });

  test("that answers other questions is asked again", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN) });
    const params = { name: `run_${id}`, arguments: { task: "Ask." } };
    const sent = { capabilities: { elicitation: { form: {} } } };
    const lisbon = { action: "accept", content: { content: "Lisbon" } };
    const asked = async (more: object = {}) => {
      const { result } = await ask(worker, "tools/call", { ...params, ...more }, sent);
      const { requestState, inputRequests = {} } = result as Task & { requestState: string };
      return { result, requestState, key: Object.keys(inputRequests)[0] ?? "" };
    };
    const { requestState, key } = await asked();
    const inputResponses = { "input:unknown": lisbon, other: lisbon };
    expect((await asked({ requestState, inputResponses })).key).toBe(key);
    const { result } = await asked({
      requestState,
      inputResponses: { ...inputResponses, [key]: lisbon },
    });
    expect(result).toMatchObject({ structuredContent: { status: "completed", text: "Lisbon" } });
  });

  test("that has an unknown state starts nothing", async () => {
    await newTeam(worker, { id, component: inTurn(HUMAN) });
    const params = { name: `run_${id}`, arguments: { task: "Ask." } };
    const sent = { capabilities: { elicitation: { form: {} } } };
    const asked = await ask(worker, "tools/call", params, sent);
    const { requestState } = asked.result as unknown as { requestState: string };
    for (const wrong of [`${requestState}-TAMPERED`, "not a state"]) {
      const { error } = await ask(worker, "tools/call", { ...params, requestState: wrong }, sent);
      expect(error).toMatchObject({ code: -32_602 });
    }
    expect(await runsOf(worker, id)).toHaveLength(1);
  });
});

test("a task of another shape, or of a run that does not exist, is not found", async () => {
  await newTeam(worker, { id, component: inTurn(writer()) });
  for (const taskId of ["", "none", `${id}/none`, `none/none`, `${id}/a/b`, `${id}/..`]) {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { error } = await ask(worker, method, { taskId, inputResponses: {} });
      expect(error, `${method} of ${taskId}`).toMatchObject({
        code: -32_602,
        message: `There is no task ${JSON.stringify(taskId)}.`,
      });
    }
  }
});
