import { afterAll, beforeAll, expect, test } from "vitest";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed } from "../../support/access.ts";
import { HUMAN, inTurn, newTeam } from "../../support/teams.ts";
import { post, request, sent } from "../support/rpc.ts";

// The forms that requests may have, and the errors of those that are invalid.

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start(
    await deployed({ MAX_BODY_BYTES: "20000", MAX_METADATA_BYTES: "200" }),
    { quietAbout: "request_refused" },
  );
  await newTeam(worker, { id: "desk", component: SAMPLE_COMPONENT }, bearer("acme"));
  await newTeam(worker, { id: "asks", component: inTurn(HUMAN) }, bearer("acme"));
});

afterAll(() => worker[Symbol.asyncDispose]());

test("fields may have the names of the .proto file, and answers have camel case", async () => {
  const { message_id, ...rest } = { message_id: "snake-1", role: "ROLE_USER" };
  const data = { in_it: { stays_so: 1 } };
  const sentSnake = {
    message: { message_id, ...rest, parts: [{ data, media_type: "application/json" }] },
  };
  const { body } = await post(worker, "asks", request("SendMessage", sentSnake), bearer("acme"));
  const task = body.result!["task"] as { id: string; contextId: string; history: object[] };
  expect(task.history).toMatchObject([
    { messageId: "snake-1", parts: [{ text: JSON.stringify(data) }] },
  ]);
  const list = request("ListTasks", { context_id: task.contextId, page_size: 1 });
  expect((await post(worker, "asks", list, bearer("acme"))).body.result).toMatchObject({
    tasks: [{ id: task.id }],
  });
  const answer = { message: { ...sentSnake.message, message_id: "snake-2", task_id: task.id } };
  const done = await post(worker, "asks", request("SendMessage", answer), bearer("acme"));
  expect(done.body.result).toMatchObject({
    task: { metadata: { "troupe/usage": { promptTokens: 0, completionTokens: 0 } } },
  });
});

const HELLO = request("SendMessage", sent("Hello."));

/** A message with a config for its task. */
function pushConfig(given: object): object {
  const taskPushNotificationConfig = { url: "https://x.test/", ...given };
  return request("SendMessage", { ...sent("Hi."), configuration: { taskPushNotificationConfig } });
}

test.each<[string, unknown, number, number, Record<string, string>?]>([
  ["a body that is not JSON", "{", 400, -32_700],
  ["a list", [HELLO], 200, -32_600],
  ["another version of JSON-RPC", { ...HELLO, jsonrpc: "1.0" }, 200, -32_600],
  ["an id that is not an id", { ...HELLO, id: {} }, 200, -32_600],
  ["no version", HELLO, 200, -32_009, { "a2a-version": "" }],
  ["version 0.3", HELLO, 200, -32_009, { "a2a-version": "0.3" }],
  ["a method of 0.3", request("message/send"), 200, -32_601],
  ["a method of every object", request("constructor"), 200, -32_601],
  ["no message", request("SendMessage"), 200, -32_602],
  ["a part of no kind", request("SendMessage", sent("", { parts: [{}] })), 200, -32_602],
  [
    "a part of two",
    request("SendMessage", sent("", { parts: [{ text: "", url: "" }] })),
    200,
    -32_602,
  ],
  ["bad base64", request("SendMessage", sent("", { parts: [{ raw: "%" }] })), 200, -32_602],
  [
    "a URL that is not fetched",
    request("SendMessage", sent("", { parts: [{ url: "https://10.0.0.1/" }] })),
    200,
    -32_602,
  ],
  [
    "a context of too many characters",
    request("SendMessage", sent("Hi.", { contextId: "x".repeat(257) })),
    200,
    -32_602,
  ],
  ["an unknown task", request("GetTask", { id: "none" }), 200, -32_001],
  ["a task that cannot be", request("GetTask", { id: "a/b" }), 200, -32_001],
  ["a page of none", request("ListTasks", { pageSize: 0 }), 200, -32_602],
  ["a wrong page", request("ListTasks", { pageToken: "1" }), 200, -32_602],
  [
    "a push config of an unknown task",
    request("CreateTaskPushNotificationConfig", { taskId: "none", url: "https://x.test/" }),
    200,
    -32_001,
  ],
  ["a push config without a URL", pushConfig({ url: undefined }), 200, -32_602],
  ["a push config over http", pushConfig({ url: "http://x.test/" }), 200, -32_602],
  ["a push config of this machine", pushConfig({ url: "https://127.0.0.1/" }), 200, -32_602],
  ["a push config with a password", pushConfig({ url: "https://a:b@x.test/" }), 200, -32_602],
  ["a push config whose token is two lines", pushConfig({ token: "a\r\nb: c" }), 200, -32_602],
  [
    "a push config with an invalid scheme",
    pushConfig({ authentication: { scheme: "a b", credentials: "c" } }),
    200,
    -32_602,
  ],
  ["the extended card", request("GetExtendedAgentCard"), 200, -32_004],
  [
    "large metadata",
    request("SendMessage", { ...sent("Hi."), metadata: { a: "x".repeat(300) } }),
    200,
    -32_602,
  ],
  ["a large body", request("SendMessage", sent("x".repeat(30_000))), 413, -32_000],
  ["a body of another type", HELLO, 415, -32_005, { "content-type": "text/plain" }],
])("%s gets an error of the protocol", async (_, body, status, code, headers = {}) => {
  const answer = await post(worker, "desk", body, { ...bearer("acme"), ...headers });
  expect(answer.body).toMatchObject({ jsonrpc: "2.0", error: { code } });
  expect(answer.body.error!.message).not.toBe("");
  expect(answer.status).toBe(status);
});

const legacy = {
  kind: "message",
  messageId: "m",
  role: "user",
  parts: [{ kind: "text", text: "." }],
};

test.each<[string, object, string, Record<string, string>?]>([
  ["params that are left out", { ...HELLO, params: undefined }, "params: is missing"],
  [
    "a part that is not fetched",
    request("SendMessage", sent("", { parts: [{ text: "See" }, { url: "ftp://example.com/a" }] })),
    "message.parts[1].url: must be an https: URL",
  ],
  ["a list of extensions", request("SendMessage", sent(".", { extensions: "x" })), ".extensions"],
  [
    "media types",
    request("SendMessage", { ...sent("."), configuration: { acceptedOutputModes: "text/plain" } }),
    "configuration.acceptedOutputModes: must be a list",
  ],
  ["a state", request("ListTasks", { status: "TASK_STATE_DONE" }), 'status: must be "TASK_STATE'],
  ["a page of another list", request("ListTasks", { pageToken: "1.abc" }), "pageToken must be"],
  [
    "a page of a context",
    request("ListTasks", { contextId: "desk", pageToken: "1.abc" }),
    "pageToken",
  ],
  [
    "a length",
    request("GetTask", { id: "a", historyLength: 1.5 }),
    "historyLength: must be a whole",
  ],
  [
    "a role of 0.3",
    request("message/send", { message: { ...legacy, role: "agent" } }),
    'in version 0.3 "user"',
    { "a2a-version": "0.3" },
  ],
  [
    "a flag of 0.3",
    request("message/send", { message: legacy, configuration: { blocking: "no" } }),
    "must be true or false",
    { "a2a-version": "0.3" },
  ],
])("%s: the error names the allowed values", async (_, body, text, headers = {}) => {
  const answer = await post(worker, "desk", body, { ...bearer("acme"), ...headers });
  expect([answer.status, answer.body.error?.code]).toEqual([200, -32_602]);
  expect(answer.body.error?.message).toContain(text);
});

test("fields that are null are left out, except the data of a part", async () => {
  const about = {
    contextId: null,
    taskId: null,
    metadata: null,
    parts: [{ data: null, text: null }],
  };
  const given = { ...sent("", about), configuration: null, metadata: null };
  const { body } = await post(worker, "asks", request("SendMessage", given), bearer("acme"));
  const { task } = body.result as { task: { id: string; history: unknown } };
  expect(task.history).toMatchObject([{ parts: [{ text: "null" }] }]);
  const listed = request("ListTasks", { contextId: null, status: null, pageSize: null });
  expect((await post(worker, "asks", listed, bearer("acme"))).body.result).toMatchObject({
    tasks: expect.arrayContaining([expect.objectContaining({ id: task.id })]),
  });
});
