// Messages that are not messages of the protocol, as bytes over HTTP: each is refused by its field.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestWorker } from "../../../support/worker.ts";
import { HUMAN, inTurn, newTeam } from "../support/teams.ts";
import { initialize, lastOf, post, request } from "./support/messages.ts";
import { ask, TASKS } from "./support/tasks.ts";

const MODERN = "2026-07-28";
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;

let worker: TestWorker;
let session: string;

beforeAll(async () => {
  worker = await TestWorker.start();
  await newTeam(worker, { id: "desk", component: inTurn(HUMAN) });
  session = await initialize(worker);
});

afterAll(() => worker[Symbol.asyncDispose]());

/** Sends a message in a session, and in the revision that has none. */
async function sendToBoth(body: string): Promise<object[]> {
  const revisions: Record<string, string>[] = [
    { "mcp-session-id": session },
    { "mcp-protocol-version": MODERN },
  ];
  return Promise.all(
    revisions.map(async (headers) => {
      const response = await post(worker, body, { headers });
      return { status: response.status, ...(await lastOf(response)) };
    }),
  );
}

describe("a malformed message is refused", () => {
  const ping = '"jsonrpc":"2.0","id":1,"method":"ping"';
  const cases: [body: string, code: number, text: string, id?: string | number | null][] = [
    ["{", -32_700, "JSON-RPC message"],
    ["null", INVALID_REQUEST, "message must be an object"],
    ['"ping"', INVALID_REQUEST, "message must be an object"],
    ["{}", INVALID_REQUEST, 'jsonrpc must be "2.0"'],
    ['{"jsonrpc":"1.0","id":1,"method":"ping"}', INVALID_REQUEST, 'jsonrpc must be "2.0"', 1],
    ['{"id":"a","method":"ping"}', INVALID_REQUEST, 'jsonrpc must be "2.0"', "a"],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', INVALID_REQUEST, "id must be"],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, "id must be"],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', INVALID_REQUEST, "id must be"],
    ['{"jsonrpc":"2.0","id":1,"method":5}', INVALID_REQUEST, "method must be a text", 1],
    ['{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, "method is missing", 1],
    ['{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', INVALID_REQUEST, "result or error", 1],
    [`{${ping},"params":[]}`, INVALID_PARAMS, "params must be an object", 1],
    [`{${ping},"params":"x"}`, INVALID_PARAMS, "params must be an object", 1],
    [`{${ping},"params":{"_meta":5}}`, INVALID_PARAMS, "params._meta must be an object", 1],
    [
      `{${ping},"params":{"_meta":{"progressToken":{}}}}`,
      INVALID_PARAMS,
      "params._meta.progressToken must be",
      1,
    ],
    ["[]", INVALID_REQUEST, "1 to 100 messages"],
    [`[${`{${ping}},`.repeat(100)}{${ping}}]`, INVALID_REQUEST, "1 to 100 messages"],
    [`[{${ping}},5]`, INVALID_REQUEST, "[1].message must be an object"],
  ];
  test.each(cases.map((row) => [row[0].slice(0, 80), ...row] as const))("%s", async (...row) => {
    const [, body, code, text, id = null] = row;
    for (const answered of await sendToBoth(body)) {
      expect(answered).toMatchObject({
        status: 400,
        id,
        error: { code, message: expect.stringContaining(text) },
      });
    }
  });
});

describe("parameters are refused", () => {
  const argument = { name: "task", value: "" };
  const cases: [method: string, params: Record<string, unknown>, text: string][] = [
    ["tools/list", { cursor: 5 }, "params.cursor: must be a text"],
    ["tools/call", {}, "params.name: is missing"],
    ["tools/call", { name: 5 }, "params.name: must be a text"],
    ["tools/call", { name: "run_desk", arguments: [] }, "params.arguments: must be an object"],
    ["resources/list", { cursor: {} }, "params.cursor: must be a text"],
    ["resources/templates/list", { cursor: 5 }, "params.cursor: must be a text"],
    ["resources/read", {}, "params.uri: is missing"],
    ["resources/read", { uri: 5 }, "params.uri: must be a text"],
    ["prompts/list", { cursor: 5 }, "params.cursor: must be a text"],
    ["prompts/get", {}, "params.name: is missing"],
    ["prompts/get", { name: "x", arguments: { task: 5 } }, "params.arguments.task: must be a text"],
    ["completion/complete", { argument }, "params.ref: is missing"],
    ["completion/complete", { ref: { type: "x" }, argument }, "params.ref: fits none"],
    [
      "completion/complete",
      { ref: { type: "ref/prompt", name: "x" }, argument: { name: "task" } },
      "params.argument.value: is missing",
    ],
  ];
  test.each(cases)("if they are malformed in %s: %j", async (method, params, text) => {
    const headers = { "mcp-session-id": session };
    const inSession = await lastOf(await post(worker, request(1, method, params), { headers }));
    const uri = params["uri"];
    const without = await ask(worker, method, params, {
      ...(typeof uri === "string" && { headers: { "mcp-name": uri } }),
    });
    for (const { error } of [inSession, without])
      expect(error).toMatchObject({ code: INVALID_PARAMS, message: expect.stringContaining(text) });
  });

  test.each([
    ["initialize", {}, "params.protocolVersion: is missing"],
    ["logging/setLevel", {}, 'params.level: must be "debug"'],
    ["logging/setLevel", { level: "loud" }, 'params.level: must be "debug"'],
    ["resources/subscribe", {}, "params.uri: is missing"],
    ["resources/unsubscribe", { uri: 5 }, "params.uri: must be a text"],
  ])("if they are malformed in %s in a session: %j", async (method, params, text) => {
    const headers = { "mcp-session-id": session };
    const { error } = await lastOf(await post(worker, request(1, method, params), { headers }));
    expect(error).toMatchObject({ code: INVALID_PARAMS, message: expect.stringContaining(text) });
  });

  test.each([
    ["tasks/get", {}, "taskId"],
    ["tasks/get", { taskId: 5 }, "taskId"],
    ["tasks/cancel", {}, "taskId"],
    ["tasks/update", { inputResponses: {} }, "taskId"],
    ["subscriptions/listen", {}, "notifications"],
    ["subscriptions/listen", { notifications: 5 }, "notifications"],
    ["subscriptions/listen", { notifications: { taskIds: "x" } }, "notifications.taskIds"],
  ])("if they are malformed in %s without a session: %j", async (method, params, text) => {
    const { error } = await ask(worker, method, params);
    expect(error).toMatchObject({ code: INVALID_PARAMS, message: expect.stringContaining(text) });
  });

  test("if they are malformed in an answer to a task", async () => {
    const call = { name: "run_desk", arguments: { task: "Ask." } };
    const { taskId } = (await ask(worker, "tools/call", call)).result!;
    for (const params of [{ taskId }, { taskId, inputResponses: 5 }]) {
      const { error } = await ask(worker, "tasks/update", params);
      expect(error).toMatchObject({
        code: INVALID_PARAMS,
        message: expect.stringContaining("inputResponses must be an object"),
      });
    }
  });
});

test("methods of the other revisions are not found", async () => {
  const headers = { "mcp-session-id": session };
  const listen = request(1, "subscriptions/listen", { notifications: { taskIds: [] } });
  const inSession = [listen, request(1, "tasks/get", { taskId: "x" })];
  for (const message of inSession) {
    const { error } = await lastOf(await post(worker, message, { headers }));
    expect(error?.code).toBe(METHOD_NOT_FOUND);
  }
  for (const method of ["initialize", "ping", "logging/setLevel", "resources/subscribe"]) {
    const { error } = await ask(
      worker,
      method,
      {},
      { capabilities: { extensions: { [TASKS]: {} } } },
    );
    expect(error?.code).toBe(METHOD_NOT_FOUND);
  }
});
