import { type StreamResponse, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  RestTransportFactory,
} from "@a2a-js/sdk/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed } from "../../support/access.ts";
import { HUMAN, inTurn, newTeam } from "../../support/teams.ts";
import {
  answerText,
  artifactsOf,
  collect,
  message,
  send,
  sending,
  stateOf,
  textOf,
} from "../support/client.ts";
import { pushConfig } from "../support/pushes.ts";
import { request, sent } from "../support/rpc.ts";

const OWN = bearer("acme");

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start(await deployed({ MAX_BODY_BYTES: "20000" }));
  await newTeam(worker, { id: "desk", component: SAMPLE_COMPONENT }, OWN);
  await newTeam(worker, { id: "asks", component: inTurn(HUMAN) }, OWN);
});

afterAll(() => worker[Symbol.asyncDispose]());

/** The official client over HTTP+JSON, found by the team's card. */
async function clientOf(team: string, headers = OWN): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) =>
    fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init?.headers)), ...headers },
    });
  const factory = new ClientFactory({
    transports: [new RestTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(new URL(`/a2a/teams/${team}/`, await worker.origin).href);
}

type Event = NonNullable<StreamResponse["payload"]>;

test("the official client gives tasks, lists, reads and cancels them", async () => {
  const client = await clientOf("desk");
  const task = await send(client, "Hello.");
  expect([stateOf(task), answerText(task)]).toEqual(["TASK_STATE_COMPLETED", "two"]);
  expect(await client.getTask({ tenant: "", id: task.id, historyLength: 1 })).toMatchObject({
    id: task.id,
    history: [{}],
  });
  const list = await client.listTasks({
    tenant: "",
    contextId: task.contextId,
    status: TaskState.TASK_STATE_COMPLETED,
    pageSize: 5,
    pageToken: "",
    includeArtifacts: true,
    statusTimestampAfter: undefined,
  });
  expect(list).toMatchObject({ totalSize: 1, tasks: [{ id: task.id }] });
  expect(answerText(list.tasks[0]!)).toBe("two");
  await expect(
    client.cancelTask({ tenant: "", id: task.id, metadata: undefined }),
  ).rejects.toMatchObject({
    name: "TaskNotCancelableError",
  });
  await expect(client.getTask({ tenant: "", id: "none" })).rejects.toMatchObject({
    name: "TaskNotFoundError",
  });
  const asking = await clientOf("asks");
  const asked = await send(asking, "Ask.");
  const cancelled = await asking.cancelTask({ tenant: "", id: asked.id, metadata: undefined });
  expect(stateOf(cancelled)).toBe("TASK_STATE_CANCELED");
});

test("its streams carry the task and its changes, and continue through questions", async () => {
  const events = await collect((await clientOf("desk")).sendMessageStream(sending("Hello.")));
  expect(events[0]).toMatchObject({ $case: "task" });
  expect(textOf(artifactsOf(events).get("answer"))).toBe("two");
  const client = await clientOf("asks");
  const { id } = await send(client, "Ask.");
  const subscribed = client.resubscribeTask({ tenant: "", id });
  const first = (await subscribed.next()).value as StreamResponse;
  expect(first.payload).toMatchObject({ $case: "task", value: { id } });
  await send(client, message("Lisbon", { taskId: id }));
  const rest: Event[] = await collect(subscribed);
  expect(rest.at(-1)).toMatchObject({
    value: { status: { state: TaskState.TASK_STATE_COMPLETED } },
  });
});

test("its push notification configs are made, read, listed and deleted", async () => {
  const client = await clientOf("asks");
  const { id: taskId } = await send(client, "Ask.");
  const about = { tenant: "", taskId };
  const given = pushConfig("https://hooks.example.com/", { taskId, id: "one" });
  const made = await client.createTaskPushNotificationConfig(given);
  expect(await client.getTaskPushNotificationConfig({ ...about, id: "one" })).toEqual(made);
  const { configs } = await client.listTaskPushNotificationConfig({
    ...about,
    pageSize: 0,
    pageToken: "",
  });
  expect(configs).toEqual([made]);
  await client.deleteTaskPushNotificationConfig({ ...about, id: "one" });
  await expect(client.getTaskPushNotificationConfig({ ...about, id: "one" })).rejects.toMatchObject(
    {
      name: "TaskNotFoundError",
    },
  );
});

const JSON_HEADERS = { ...OWN, "content-type": "application/a2a+json", "a2a-version": "1.0" };
const HELLO = JSON.stringify(sent("Hello."));

test.each<[string, string, string, RequestInit, number, string]>([
  ["a body that is not JSON", "POST", "/message:send", { body: "{" }, 400, "MALFORMED_JSON"],
  ["a list", "POST", "/message:send", { body: "[]" }, 400, "INVALID_PARAMS"],
  ["no message", "POST", "/message:send", { body: "{}" }, 400, "INVALID_PARAMS"],
  [
    "a body of another type",
    "POST",
    "/message:send",
    { body: HELLO, headers: { "content-type": "text/plain" } },
    415,
    "CONTENT_TYPE_NOT_SUPPORTED",
  ],
  [
    "no version",
    "POST",
    "/message:send",
    { body: HELLO, headers: { "a2a-version": "" } },
    400,
    "VERSION_NOT_SUPPORTED",
  ],
  [
    "no key",
    "POST",
    "/message:send",
    { body: HELLO, headers: { authorization: "" } },
    401,
    "MISSING_CREDENTIALS",
  ],
  [
    "a key without the scope",
    "POST",
    "/message:send",
    { body: HELLO, headers: bearer("usage:read") },
    403,
    "MISSING_SCOPE",
  ],
  [
    "a large body",
    "POST",
    "/message:stream",
    { body: JSON.stringify(sent("x".repeat(30_000))) },
    413,
    "BODY_TOO_LARGE",
  ],
  ["an unknown task", "GET", "/tasks/none", {}, 404, "TASK_NOT_FOUND"],
  ["a task that cannot be", "GET", "/tasks/a%2Fb", {}, 404, "TASK_NOT_FOUND"],
  ["an action that does not exist", "POST", "/tasks/none:explode", {}, 404, "NOT_FOUND"],
  ["a page of none", "GET", "/tasks?pageSize=0", {}, 400, "INVALID_PARAMS"],
  ["a page size that is not a number", "GET", "/tasks?pageSize=many", {}, 400, "INVALID_PARAMS"],
  ["the extended card", "GET", "/extendedAgentCard", {}, 400, "UNSUPPORTED_OPERATION"],
])(
  "%s gets an error of Google's form",
  async (_, method, path, { body, headers }, status, reason) => {
    const response = await worker.fetch(`/a2a/teams/desk${path}`, {
      method,
      headers: { ...JSON_HEADERS, ...(headers as Record<string, string>) },
      ...(body && { body }),
    });
    expect([response.status, response.headers.get("content-type")]).toEqual([
      status,
      "application/json",
    ]);
    expect(await response.json()).toMatchObject({
      error: {
        code: status,
        status: expect.stringMatching(/^[A-Z_]+$/),
        message: expect.stringMatching(/./),
        details: [{ reason }],
      },
    });
  },
);

test("the version may be in the query instead of the header", async () => {
  const headers = { "content-type": "application/json", ...OWN };
  const init = { method: "POST", headers, body: HELLO };
  const started = await worker.fetch("/a2a/teams/desk/message:send?A2A-Version=1.0", init);
  const { task } = (await started.json()) as { task: { id: string; contextId: string } };
  for (const [path, status] of [
    [`/tasks/${task.id}?A2A-Version=1.0&historyLength=1`, 200],
    [`/tasks?contextId=${task.contextId}&A2A-Version=1.0`, 200],
    [`/tasks/${task.id}?A2A-Version=0.5`, 400],
    [`/tasks/${task.id}`, 400],
  ] as const) {
    const response = await worker.fetch(`/a2a/teams/desk${path}`, { headers });
    expect([response.status, await response.text()], path).toEqual([
      status,
      expect.stringContaining(status === 200 ? task.id : "VERSION_NOT_SUPPORTED"),
    ]);
  }
  const rpc = JSON.stringify(request("GetTask", { id: task.id }));
  // An empty header says nothing.
  const called = await worker.fetch("/a2a/teams/desk?A2A-Version=1.0", {
    ...init,
    headers: { ...headers, "a2a-version": "" },
    body: rpc,
  });
  expect(await called.json()).toMatchObject({ result: { id: task.id } });
});

test("a team of another tenant does not exist", async () => {
  const headers = { ...JSON_HEADERS, ...bearer("globex") };
  for (const [method, path] of [
    ["POST", "/message:send"],
    ["GET", "/tasks"],
    ["GET", "/extendedAgentCard"],
  ] as const) {
    const body = method === "POST" ? { body: HELLO } : {};
    const response = await worker.fetch(`/a2a/teams/desk${path}`, { method, headers, ...body });
    expect(response.status, path).toBe(404);
    await response.body?.cancel();
  }
});
