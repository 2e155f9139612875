import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  type Message,
  type MessageSendParams,
  type Task,
} from "../../../../peers/a2a-0.3.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { WebhookReceiver } from "../../../../support/webhook-receiver.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { HUMAN, inTurn, newTeam, writer } from "../../support/teams.ts";
import { post, request } from "../support/rpc.ts";

const PICTURE = `iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==`;

let openai: FakeOpenAI;
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [{ name: "write", reply: { content: "Four little words here." }, pace_ms: 20 }],
  });
  worker = await TestWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: openai.url,
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(() => {
  id = `team${++count}`;
});

/** The official client of 0.3, unmodified, found by the card. */
async function clientFor(...participants: object[]): Promise<Client> {
  await newTeam(worker, { id, component: inTurn(...participants) });
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory()],
    cardResolver: new DefaultAgentCardResolver(),
  });
  return factory.createFromUrl(new URL(`/a2a/teams/${id}/`, await worker.origin).href);
}

function sending(text: string, about: Partial<Message> = {}): MessageSendParams {
  const parts = [{ kind: "text" as const, text }];
  return { message: { kind: "message", messageId: randomUUID(), role: "user", parts, ...about } };
}

function taskOf(result: Message | Task): Task {
  if (result.kind !== "task") throw new Error("the answer is a message");
  return result;
}

const textOf = (parts: Message["parts"] = []): string =>
  parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

test("a client of 0.3 gives tasks, in conversations of its own", async () => {
  const client = await clientFor(writer());
  const task = taskOf(await client.sendMessage(sending("Write.")));
  expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
  expect(textOf(task.artifacts?.[0]?.parts)).toBe("Four little words here.");
  expect(task.history).toMatchObject([
    { kind: "message", role: "user", parts: [{ text: "Write." }] },
  ]);
  const more = taskOf(await client.sendMessage(sending("More.", { contextId: task.contextId })));
  expect(more.contextId).toBe(task.contextId);
  const other = taskOf(await client.sendMessage(sending("Write.")));
  expect(other.contextId).not.toBe(task.contextId);
  expect(await client.getTask({ id: task.id, historyLength: 0 })).toMatchObject({ id: task.id });
  await expect(client.getTask({ id: "none" })).rejects.toMatchObject({ name: "TaskNotFoundError" });
});

test("its streams carry texts, questions and their answers, and end with final events", async () => {
  const client = await clientFor(writer(), HUMAN, writer({ name: "editor" }));
  const first = [];
  for await (const event of client.sendMessageStream(sending("Ask."))) first.push(event);
  expect(first[0]).toMatchObject({ kind: "task", status: { state: expect.any(String) } });
  expect(first.some(({ kind }) => kind === "artifact-update")).toBe(true);
  expect(first.at(-1)).toMatchObject({
    kind: "status-update",
    final: true,
    status: {
      state: "input-required",
      message: {
        role: "agent",
        parts: [{ kind: "text", text: "Which city?" }, { kind: "data" }],
      },
    },
  });
  expect(first.slice(0, -1).some((event) => "final" in event && event.final)).toBe(false);
  const { id: taskId } = first[0] as Task;
  const again = [];
  for await (const event of client.resubscribeTask({ id: taskId })) again.push(event);
  expect(again.at(-1)).toMatchObject({ final: true, status: { state: "input-required" } });
  const second = [];
  for await (const event of client.sendMessageStream(sending("Lisbon", { taskId })))
    second.push(event);
  expect(second.at(-1)).toMatchObject({ final: true, status: { state: "completed" } });
});

test("its streams contain the reason of a refusal", async () => {
  const client = await clientFor(writer());
  const { id: taskId } = taskOf(await client.sendMessage(sending("Write.")));
  const refused = async (stream: AsyncIterable<unknown>): Promise<unknown> => {
    try {
      for await (const event of stream) return event;
    } catch (error) {
      return error;
    }
    return undefined;
  };
  const ended = await refused(client.sendMessageStream(sending("More.", { taskId })));
  expect(String(ended)).toContain("-32004");
  expect(String(ended)).toContain("is completed");
  const unknown = await refused(client.resubscribeTask({ id: "none" }));
  expect(String(unknown)).toContain("-32001");
});

test("files and data are accepted, and `blocking` waits for the end", async () => {
  const client = await clientFor(HUMAN, writer());
  const parts: Message["parts"] = [
    { kind: "text", text: "What is this?" },
    { kind: "file", file: { bytes: PICTURE, mimeType: "image/png", name: "dot.png" } },
    { kind: "data", data: { size: 1 } },
  ];
  const configuration = { blocking: false };
  const asked = taskOf(await client.sendMessage({ ...sending("", { parts }), configuration }));
  expect(["submitted", "working", "input-required"]).toContain(asked.status.state);
  expect(asked.history?.[0]?.parts).toMatchObject([
    { kind: "text" },
    { kind: "file", file: { bytes: PICTURE, mimeType: "image/png" } },
    { kind: "text", text: '{"size":1}' },
  ]);
  await expect
    .poll(async () => (await client.getTask({ id: asked.id })).status.state)
    .toBe("input-required");
  const cancelled = await client.cancelTask({ id: asked.id });
  expect(cancelled.status.state).toBe("canceled");
  const refused = sending("", {
    parts: [{ kind: "file", file: { bytes: "UEs=", mimeType: "application/zip" } }],
  });
  await expect(client.sendMessage(refused)).rejects.toThrow("Incompatible content types");
  const inside = sending("", {
    parts: [{ kind: "file", file: { uri: "https://10.0.0.1/a.png" } }],
  });
  await expect(client.sendMessage(inside)).rejects.toThrow("private address");
});

test("its receivers of push notifications get the task", async () => {
  await using receiver = await WebhookReceiver.start();
  const { secret } = (await (await worker.fetch("/v1/webhooks/default/secret")).json()) as {
    secret: string;
  };
  const client = await clientFor(HUMAN, writer());
  const pushNotificationConfig = {
    id: "one",
    url: receiver.url("/push"),
    token: "a-token",
    authentication: { schemes: ["Bearer"], credentials: "letmein" },
  };
  const asked = taskOf(
    await client.sendMessage({ ...sending("Ask."), configuration: { pushNotificationConfig } }),
  );
  const [question] = await receiver.events(secret, 1, "/push");
  expect(question).toMatchObject({
    kind: "task",
    id: asked.id,
    status: { state: "input-required" },
  });
  expect(receiver.received[0]!.headers).toMatchObject({
    authorization: "Bearer letmein",
    "x-a2a-notification-token": "a-token",
  });
  const about = { id: asked.id, pushNotificationConfigId: "one" };
  expect(await client.getTaskPushNotificationConfig(about)).toMatchObject({
    taskId: asked.id,
    pushNotificationConfig: { id: "one", authentication: { schemes: ["Bearer"] } },
  });
  const two = {
    taskId: asked.id,
    pushNotificationConfig: { id: "two", url: receiver.url("/two") },
  };
  expect(await client.setTaskPushNotificationConfig(two)).toMatchObject(two);
  expect(await client.listTaskPushNotificationConfig({ id: asked.id })).toHaveLength(2);
  await client.deleteTaskPushNotificationConfig({ ...about, pushNotificationConfigId: "two" });
  expect(await client.listTaskPushNotificationConfig({ id: asked.id })).toHaveLength(1);
  await client.sendMessage(sending("Lisbon", { taskId: asked.id }));
  const [, end] = await receiver.events(secret, 2, "/push");
  expect(end).toMatchObject({
    kind: "task",
    status: { state: "completed" },
    artifacts: [{ parts: [{ kind: "text", text: "Four little words here." }] }],
  });
});

test.each<[string, object, number, Record<string, string>]>([
  ["a method of 1.0 without its version", request("SendMessage"), -32_009, { "a2a-version": "" }],
  ["a method of 0.3 with the version of 1.0", request("message/send"), -32_601, {}],
  ["a version that is not there yet", request("message/send"), -32_009, { "a2a-version": "0.2" }],
  ["an unknown method", request("tasks/list"), -32_601, { "a2a-version": "0.3.0" }],
  ["no message", request("message/send"), -32_602, { "a2a-version": "" }],
  [
    "no role",
    request("message/send", { message: { messageId: "1", parts: [{ kind: "text", text: "" }] } }),
    -32_602,
    { "a2a-version": "" },
  ],
  [
    "a part of no kind",
    request("message/send", { message: { messageId: "1", role: "user", parts: [{ kind: "x" }] } }),
    -32_602,
    { "a2a-version": "" },
  ],
  [
    "the extended card",
    request("agent/getAuthenticatedExtendedCard"),
    -32_004,
    { "a2a-version": "0.3" },
  ],
])("%s gets an error", async (_, body, code, headers) => {
  await newTeam(worker, { id, component: inTurn(HUMAN) });
  const { body: answer } = await post(worker, id, body, headers);
  expect(answer.error).toMatchObject({ code, message: expect.stringMatching(/./) });
});
