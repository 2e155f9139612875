import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { jsonInit } from "../../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { PATIENCE } from "../../../../support/patience.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { HUMAN, inTurn, newTeam } from "../../support/teams.ts";
import { messagesOf, post } from "../support/messages.ts";
import { ask, type Task, TASKS } from "../support/tasks.ts";

let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  worker = await TestWorker.start({});
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(async () => {
  id = `heard${++count}`;
  await newTeam(worker, { id, component: inTurn(HUMAN) });
});

const KNOWS_TASKS = { extensions: { [TASKS]: {} }, elicitation: { form: {} } };

interface Heard {
  id?: number;
  method?: string;
  params?: Task & { notifications?: Record<string, unknown>; uri?: string; _meta: object };
  result?: { resultType: string };
  error?: { code: number; message: string; data?: object };
}

/** Opens a subscription, as a client of 2026-07-28 does. */
async function open(
  notifications: unknown,
  { path = "/mcp", capabilities = {}, signal = new AbortController().signal } = {},
) {
  const response = await post(
    worker,
    {
      jsonrpc: "2.0",
      id: 7,
      method: "subscriptions/listen",
      params: {
        notifications,
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": capabilities,
        },
      },
    },
    {
      path,
      signal,
      headers: {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "subscriptions/listen",
      },
    },
  );
  const messages = messagesOf(response) as unknown as AsyncGenerator<Heard, void, void>;
  return {
    status: response.status,
    next: async () => (await messages.next()).value as Heard,
    [Symbol.asyncDispose]: async () => void (await messages.return()),
  };
}

/** A task that waits for its human. */
async function waitingTask(team = id): Promise<string> {
  const call = { name: `run_${team}`, arguments: { task: "Ask." } };
  const { result } = await ask(worker, "tools/call", call);
  const { taskId } = result!;
  await expect
    .poll(async () => (await ask(worker, "tasks/get", { taskId })).result?.status)
    .toBe("input_required");
  return taskId;
}

const get = async (taskId: string) => {
  const { result } = await ask(worker, "tasks/get", { taskId });
  const { resultType: _, _meta: __, ...task } = result!;
  return task;
};

describe("subscriptions to tasks", () => {
  test("report each change, as tasks/get shows it, until all have ended", async () => {
    const taskId = await waitingTask();
    await using heard = await open(
      { taskIds: [taskId, taskId, `${id}/none`, "nonsense"] },
      { capabilities: KNOWS_TASKS },
    );
    const _meta = { "io.modelcontextprotocol/subscriptionId": 7 };
    expect(await heard.next()).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [taskId] }, _meta },
    });
    const waiting = await heard.next();
    expect(waiting).toMatchObject({ method: "notifications/tasks", params: { _meta } });
    expect(waiting.params).toEqual({ ...(await get(taskId)), _meta });
    const [key = ""] = Object.keys(waiting.params!.inputRequests!);
    const inputResponses = { [key]: { action: "accept", content: { content: "Lisbon" } } };
    await ask(worker, "tasks/update", { taskId, inputResponses });
    const statuses: string[] = [];
    let message = await heard.next();
    for (; message.method === "notifications/tasks"; message = await heard.next()) {
      statuses.push(message.params!.status);
      if (message.params!.status === "completed")
        expect(message.params).toEqual({ ...(await get(taskId)), _meta });
    }
    expect(statuses.at(-1)).toBe("completed");
    expect(message).toMatchObject({ id: 7, result: { resultType: "complete", _meta } });
    expect(await heard.next()).toBeUndefined();
  });

  test("report a task that has ended once", async () => {
    const taskId = await waitingTask();
    await ask(worker, "tasks/cancel", { taskId });
    await using heard = await open({ taskIds: [taskId] }, { capabilities: KNOWS_TASKS });
    await heard.next();
    expect((await heard.next()).params).toMatchObject({ taskId, status: "cancelled" });
    expect(await heard.next()).toMatchObject({ result: { resultType: "complete" } });
  });

  test("report all results, also above the limit of unread data", async () => {
    const long = "word ".repeat(20_000);
    const taskIds: string[] = [];
    for (let n = 0; n < 12; n++) {
      const team = `${id}-${n}`;
      await newTeam(worker, { id: team, component: inTurn(HUMAN) });
      const taskId = await waitingTask(team);
      const [key = ""] = Object.keys((await get(taskId)).inputRequests!);
      const inputResponses = { [key]: { action: "accept", content: { content: long } } };
      await ask(worker, "tasks/update", { taskId, inputResponses });
      await expect.poll(async () => (await get(taskId)).status, PATIENCE).toBe("completed");
      taskIds.push(taskId);
    }
    await using heard = await open({ taskIds }, { capabilities: KNOWS_TASKS });
    await heard.next();
    const tasks: (Task | undefined)[] = [];
    for (const _ of taskIds) tasks.push((await heard.next()).params);
    expect(new Set(tasks.map((task) => task?.taskId))).toEqual(new Set(taskIds));
    for (const task of tasks) expect(task?.result?.structuredContent.text).toBe(long);
    expect(await heard.next()).toMatchObject({ result: { resultType: "complete" } });
  });

  test("need the capability and a list of ids", async () => {
    const taskIds = [`${id}/none`];
    const without = await open({ taskIds }, { capabilities: { elicitation: {} } });
    expect(without.status).toBe(400);
    expect(await without.next()).toMatchObject({
      id: 7,
      error: { code: -32_021, data: { requiredCapabilities: { extensions: { [TASKS]: {} } } } },
    });
    for (const wrong of ["x", [1], Array.from({ length: 51 }, () => "x")]) {
      const refused = await open({ taskIds: wrong }, { capabilities: KNOWS_TASKS });
      expect(await refused.next()).toMatchObject({
        error: { code: -32_602, message: expect.stringContaining("notifications.taskIds") },
      });
    }
  });

  test("show no tasks of another team at the address of one", async () => {
    const taskId = await waitingTask();
    const other = `other${count}`;
    await newTeam(worker, { id: other, component: SAMPLE_COMPONENT });
    await using heard = await open(
      { taskIds: [taskId] },
      { capabilities: KNOWS_TASKS, path: `/mcp/teams/${other}` },
    );
    expect((await heard.next()).params?.notifications).toEqual({});
  });
});

test("a client of the SDK gets changes of lists and threads", async () => {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", await worker.origin)));
  const heard: string[] = [];
  client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
  client.setNotificationHandler("notifications/resources/list_changed", () => {
    heard.push("resources");
  });
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  const uri = `troupe://teams/${id}/thread`;
  const transcript = `troupe://teams/${id}/transcript`;
  const subscription = await client.listen({
    toolsListChanged: true,
    resourcesListChanged: true,
    promptsListChanged: true,
    resourceSubscriptions: [uri, transcript, "troupe://teams/nobody/thread", "file:///x"],
  });
  expect(subscription.honoredFilter).toEqual({
    toolsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: [uri, transcript],
  });
  const other = `other${count}`;
  await newTeam(worker, { id: other, component: SAMPLE_COMPONENT });
  await expect.poll(() => heard).toEqual(["tools", "resources"]);
  // Runs change no list, and threads of other teams say nothing.
  await worker.fetch(`/v1/teams/${other}/runs?wait=30`, jsonInit({ task: "Hello." }));
  await worker.fetch(`/v1/teams/${id}/runs?wait=30`, jsonInit({ task: "Ask." }));
  await expect.poll(() => heard.slice(2, 4)).toEqual([uri, transcript]);
  expect(heard.slice(2)).not.toContain("tools");
  heard.length = 0;
  await worker.fetch(`/v1/teams/${other}`, { method: "DELETE" });
  await expect.poll(() => heard).toContain("tools");
  await client.close();
});
