import { AgentCard, type Task } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { MAX_PUSH_CONFIGS } from "#contract/constants.ts";
import type { WebhookDelivery } from "#contract/webhook.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { WebhookReceiver } from "../../../support/webhook-receiver.ts";
import { TestWorker } from "../../../support/worker.ts";
import { HUMAN, inTurn, newTeam, writer } from "../support/teams.ts";
import { answerText, clientOf, message, send, stateOf, textOf } from "./support/client.ts";
import { post, request, sent } from "./support/rpc.ts";
import { type Push, pushConfig, pushesAt } from "./support/pushes.ts";

/** Together more than a notification has. */
const LARGE_CALLS = Array.from({ length: 6 }, (_, index) => ({
  name: "calculator",
  arguments: { expression: `${index}${"0".repeat(60_000)}` },
}));

let openai: FakeOpenAI;
let worker: TestWorker;
let receiver: WebhookReceiver;
let secret: string;
let teams = 0;
let id: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "slow", match: { any: "slowly" }, hold: true, reply: { content: "At last." } },
      { name: "fail", match: { any: "break" }, fault: { kind: "status", status: 400 } },
      { name: "long", match: { any: "long" }, reply: { content: "x".repeat(70_000) } },
      { name: "ask", match: { any: "approve" }, reply: { tool_calls: LARGE_CALLS } },
      { name: "write", reply: { content: "Four little words here." } },
    ],
  });
  receiver = await WebhookReceiver.start();
  worker = await TestWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: openai.url,
  });
  const response = await worker.fetch("/v1/webhooks/default/secret");
  ({ secret } = (await response.json()) as { secret: string });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(() => {
  id = `team${++teams}`;
  receiver.reset();
});

async function clientFor(...participants: object[]): Promise<Client> {
  await newTeam(worker, { id, component: inTurn(...participants) });
  return clientOf(worker, id);
}

function told(count: number, path = `/${id}`): Promise<Push[]> {
  return pushesAt(receiver, secret, count, path);
}

function states(pushes: readonly Push[]): string[] {
  return pushes.map((push) => {
    if (push.$case !== "task" && push.$case !== "statusUpdate") throw new Error(push.$case);
    return `${push.$case} ${stateOf(push.value)}`;
  });
}

function taskOf(push: Push | undefined): Task {
  if (push?.$case !== "task") throw new Error(`not a task: ${JSON.stringify(push)}`);
  return push.value;
}

/** Deliveries of a conversation that are not over. */
async function pending(conversation: string): Promise<WebhookDelivery[]> {
  const path = "/v1/webhooks/default/deliveries?status=pending";
  const { deliveries } = (await (await worker.fetch(path)).json()) as {
    deliveries: WebhookDelivery[];
  };
  return deliveries.filter(({ team_id }) => team_id === conversation);
}

test("a message brings the config, whose receiver gets the task with its answer", async () => {
  await newTeam(worker, { id, component: SAMPLE_COMPONENT });
  const client = await clientOf(worker, id);
  const taskPushNotificationConfig = pushConfig(receiver.url(`/${id}`), {
    token: "token-of-the-task",
    authentication: { scheme: "Bearer", credentials: "letmein" },
  });
  const task = await send(client, "Hello.", { taskPushNotificationConfig }, { project: "x" });
  const [push] = await told(1);
  expect(taskOf(push)).toMatchObject({
    id: task.id,
    contextId: task.contextId,
    metadata: { project: "x", "troupe/status": "completed" },
  });
  expect(states([push!])).toEqual(["task TASK_STATE_COMPLETED"]);
  expect(answerText(taskOf(push))).toBe("two");
  expect(receiver.received[0]!.headers).toMatchObject({
    "content-type": "application/a2a+json",
    authorization: "Bearer letmein",
    "x-a2a-notification-token": "token-of-the-task",
    "webhook-id": expect.stringMatching(/^msg_/),
  });
  // The next task of the team is another one.
  await send(client, "Hello again.");
  const other = pushConfig(receiver.url(`/${id}`));
  const third = await send(client, "And again.", { taskPushNotificationConfig: other });
  const tasks = (await told(2)).map(taskOf);
  expect(tasks.map((one) => one.id)).toEqual([task.id, third.id]);
  expect(answerText(tasks[1]!)).toBe(answerText(third));
  const { headers } = receiver.received[1]!;
  expect([headers.authorization, headers["x-a2a-notification-token"]]).toEqual([
    undefined,
    undefined,
  ]);
});

test("a push has the contextId that the client made up", async () => {
  await newTeam(worker, { id, component: inTurn(HUMAN, writer()) });
  const client = await clientOf(worker, id);
  const taskPushNotificationConfig = pushConfig(receiver.url(`/${id}`));
  const asked = await send(client, message("Ask.", { contextId: "ticket 4711" }), {
    taskPushNotificationConfig,
  });
  await send(client, message("Lisbon", { taskId: asked.id }));
  const pushes = await told(2);
  expect(states(pushes)).toEqual([
    "statusUpdate TASK_STATE_INPUT_REQUIRED",
    "task TASK_STATE_COMPLETED",
  ]);
  for (const push of pushes) expect(push.value).toMatchObject({ contextId: "ticket 4711" });
});

test("the message of a stream brings a config, too, and failed or cancelled tasks are reported", async () => {
  const client = await clientFor(writer());
  const taskPushNotificationConfig = pushConfig(receiver.url(`/${id}`));
  const configuration = {
    acceptedOutputModes: [],
    returnImmediately: true,
    taskPushNotificationConfig,
  };
  const broken = { tenant: "", message: message("Please break."), configuration, metadata: {} };
  for await (const _ of client.sendMessageStream(broken));
  openai.rules.hold("slow");
  const slow = await send(client, "Write slowly.", configuration);
  const { contextId } = slow;
  const queued = await send(client, message("Wait for it.", { contextId }), configuration);
  await client.createTaskPushNotificationConfig(
    pushConfig(receiver.url(`/${id}/queued`), { taskId: queued.id }),
  );
  await client.cancelTask({ tenant: "", id: queued.id, metadata: undefined });
  await client.cancelTask({ tenant: "", id: slow.id, metadata: undefined });
  const pushes = (await told(3)).map(taskOf);
  expect(pushes.map(stateOf).toSorted()).toEqual([
    "TASK_STATE_CANCELED",
    "TASK_STATE_CANCELED",
    "TASK_STATE_FAILED",
  ]);
  expect((await told(1, `/${id}/queued`)).map((push) => taskOf(push).id)).toEqual([queued.id]);
  const failed = pushes.find((task) => stateOf(task) === "TASK_STATE_FAILED");
  expect(textOf(failed!.status!.message?.parts)).not.toBe("");
  openai.rules.release("slow");
});

test("a question of a task is delivered to configs created before", async () => {
  const client = await clientFor(HUMAN, writer());
  const asked = await send(client, "Ask.", {
    taskPushNotificationConfig: pushConfig(receiver.url(`/${id}`)),
  });
  const made = await client.createTaskPushNotificationConfig(
    pushConfig(receiver.url(`/${id}/late`), { taskId: asked.id, id: "late" }),
  );
  expect(made).toMatchObject({ id: "late", taskId: asked.id, url: receiver.url(`/${id}/late`) });
  const [question] = await told(1);
  expect(question).toMatchObject({ $case: "statusUpdate", value: { taskId: asked.id } });
  expect((question!.value as typeof asked).status).toEqual(asked.status);
  await send(client, message("Lisbon", { taskId: asked.id }), {
    taskPushNotificationConfig: pushConfig(receiver.url(`/${id}/last`)),
  });
  expect(states(await told(2))).toEqual([
    "statusUpdate TASK_STATE_INPUT_REQUIRED",
    "task TASK_STATE_COMPLETED",
  ]);
  for (const path of ["late", "last"]) {
    const [end] = await told(1, `/${id}/${path}`);
    expect(answerText(taskOf(end))).toBe("Four little words here.");
  }
});

test("the last message of a human is not the answer, and a long answer is not sent", async () => {
  const client = await clientFor(writer(), HUMAN);
  const asked = await send(client, "Ask.", {
    taskPushNotificationConfig: pushConfig(receiver.url(`/${id}`)),
  });
  await send(client, message("Well done.", { taskId: asked.id }));
  expect(answerText(taskOf((await told(2))[1]))).toBe("Four little words here.");
  id = `team${++teams}`;
  const other = await clientFor(writer());
  const task = await send(other, "Something long.", {
    taskPushNotificationConfig: pushConfig(receiver.url(`/${id}`)),
  });
  expect(answerText(task)).toHaveLength(70_000);
  expect(taskOf((await told(1))[0])).toMatchObject({ id: task.id, artifacts: [] });
});

test("questions that are too large together are delivered as far as they fit", async () => {
  const tools = [{ provider: "FunctionTool", config: { name: "calculator", approval: "human" } }];
  const client = await clientFor(writer({ tools }));
  const asked = await send(client, "Ask me to approve it.", {
    taskPushNotificationConfig: pushConfig(receiver.url(`/${id}`)),
  });
  // Each question is a text and data.
  expect(asked.status!.message!.parts).toHaveLength(2 * LARGE_CALLS.length);
  const [question] = await told(1);
  expect(states([question!])).toEqual(["statusUpdate TASK_STATE_INPUT_REQUIRED"]);
  const { status } = question!.value as typeof asked;
  expect(status!.message!.parts).toEqual(asked.status!.message!.parts.slice(0, 2 * 4));
});

test("configs are listed without their secrets, replaced and deleted", async () => {
  const client = await clientFor(HUMAN);
  const { id: taskId } = await send(client, "Ask.");
  const config = (given: object) =>
    pushConfig(receiver.url("/listed"), {
      taskId,
      token: "a-token",
      authentication: { scheme: "Basic", credentials: "dXNlcjpwYXNz" },
      ...given,
    });
  const unnamed = await client.createTaskPushNotificationConfig(config({}));
  expect(unnamed.id).toMatch(/^[0-9a-f-]{36}$/);
  for (let index = 1; index < MAX_PUSH_CONFIGS; index++) {
    await client.createTaskPushNotificationConfig(config({ id: `c${index}` }));
  }
  await expect(client.createTaskPushNotificationConfig(config({ id: "more" }))).rejects.toThrow(
    `The run has ${MAX_PUSH_CONFIGS} push notification configs`,
  );
  const url = receiver.url("/changed");
  await client.createTaskPushNotificationConfig(config({ id: "c1", url }));
  const about = { tenant: "", taskId };
  const { configs } = await client.listTaskPushNotificationConfig({
    ...about,
    pageSize: 0,
    pageToken: "",
  });
  expect(configs).toHaveLength(MAX_PUSH_CONFIGS);
  expect(JSON.stringify(configs)).not.toMatch(/a-token|dXNlcjpwYXNz/);
  const one = await client.getTaskPushNotificationConfig({ ...about, id: "c1" });
  expect(one).toMatchObject({ id: "c1", taskId, url, authentication: { scheme: "Basic" } });
  expect(configs).toContainEqual(one);
  await client.deleteTaskPushNotificationConfig({ ...about, id: "c1" });
  await client.deleteTaskPushNotificationConfig({ ...about, id: "c1" });
  await expect(client.getTaskPushNotificationConfig({ ...about, id: "c1" })).rejects.toMatchObject({
    name: "TaskNotFoundError",
  });
  await client.cancelTask({ tenant: "", id: taskId, metadata: undefined });
  // Configs of a task that is over can be kept, though it reports nothing any longer.
  const late = await client.createTaskPushNotificationConfig(config({ id: "late" }));
  expect(await client.getTaskPushNotificationConfig({ ...about, id: "late" })).toEqual(late);
});

test("a config that is deleted, or whose team is, gets no further deliveries", async () => {
  receiver.respond = (response) => response.writeHead(503).end();
  const client = await clientFor(HUMAN);
  const taskPushNotificationConfig = pushConfig(receiver.url(`/${id}`), { id: "one/of two" });
  const { id: taskId, contextId } = await send(client, "Ask.", { taskPushNotificationConfig });
  await client.createTaskPushNotificationConfig(
    pushConfig(receiver.url(`/${id}/other`), { taskId, id: "other" }),
  );
  await told(1);
  await send(client, message("Lisbon", { taskId }));
  await expect.poll(() => pending(contextId)).toHaveLength(3);
  const ids = { tenant: "", taskId, id: "one/of two" };
  await client.deleteTaskPushNotificationConfig(ids);
  await expect
    .poll(async () => (await pending(contextId)).map(({ url }) => url))
    .toEqual([receiver.url(`/${id}/other`)]);
  const deleted = await worker.fetch(`/v1/teams/${id}`, { method: "DELETE" });
  expect(deleted.status).toBe(204);
  await expect.poll(() => pending(contextId)).toEqual([]);
});

test("a receiver that fails does not delay another one of the task", async () => {
  receiver.respond = (response) => response.writeHead(500).end();
  await using other = await WebhookReceiver.start();
  const client = await clientFor(HUMAN);
  const { id: taskId } = await send(client, "Ask.", {
    taskPushNotificationConfig: pushConfig(receiver.url(`/${id}`)),
  });
  await told(1);
  await client.createTaskPushNotificationConfig(pushConfig(other.url(`/${id}`), { taskId }));
  await send(client, message("Lisbon", { taskId }));
  expect(states(await pushesAt(other, secret, 1, `/${id}`))).toEqual(["task TASK_STATE_COMPLETED"]);
  // It is tried again with the same headers, and the end of the task comes after.
  receiver.respond = (response) => void response.end();
  expect(states((await told(3)).slice(1))).toEqual([
    "statusUpdate TASK_STATE_INPUT_REQUIRED",
    "task TASK_STATE_COMPLETED",
  ]);
  const [first, second] = receiver.received.filter(({ path }) => path === `/${id}`);
  expect(second!.headers["webhook-id"]).toBe(first!.headers["webhook-id"]);
});

test("a server without SECRETS_KEY has no push notifications, and the card says so", async () => {
  await using closed = await TestWorker.start();
  await newTeam(closed, { id, component: inTurn(HUMAN) });
  const card = await closed.fetch(`/a2a/teams/${id}/.well-known/agent-card.json`);
  expect(AgentCard.fromJSON(await card.json()).capabilities?.pushNotifications).toBe(false);
  const client = await clientOf(closed, id);
  const { id: taskId } = await send(client, "Ask.");
  const url = "https://example.com/";
  for (const [method, params] of [
    ["CreateTaskPushNotificationConfig", { taskId, url }],
    ["GetTaskPushNotificationConfig", { taskId, id: "one" }],
    ["ListTaskPushNotificationConfigs", { taskId }],
    ["DeleteTaskPushNotificationConfig", { taskId, id: "one" }],
    ["SendMessage", { ...sent("Hi."), configuration: { taskPushNotificationConfig: { url } } }],
  ] as const) {
    const { body } = await post(closed, id, request(method, params));
    expect(body.error, method).toMatchObject({
      code: -32_003,
      message: expect.stringContaining("SECRETS_KEY"),
    });
  }
});
