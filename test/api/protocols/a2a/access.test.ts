import { AgentCard } from "@a2a-js/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { bearer, deployed, ORIGIN, teamToken } from "../support/access.ts";
import { HUMAN, inTurn, newTeam } from "../support/teams.ts";
import { withoutLegacy } from "./support/legacy-card.ts";
import { answerText, clientOf, send } from "./support/client.ts";
import { post, request, sent } from "./support/rpc.ts";

let worker: TestWorker;
let token: string;

beforeAll(async () => {
  worker = await TestWorker.start(await deployed({ A2A_TEAM: "acme/desk" }));
  const desk = { id: "desk", label: "News desk", component: SAMPLE_COMPONENT };
  await newTeam(worker, desk, bearer("acme"));
  await newTeam(worker, { id: "asks", component: inTurn(HUMAN) }, bearer("acme"));
  token = await teamToken(worker, "desk", ["teams:read", "runs:write"]);
});

afterAll(() => worker[Symbol.asyncDispose]());

test.each<[string, Scope[], object]>([
  ["SendMessage", ["runs:write"], sent("Hello.")],
  ["SendMessage", ["requests:write", "runs:write"], sent("Yes.", { taskId: "none" })],
  ["SendStreamingMessage", ["requests:write", "runs:write"], sent("Yes.", { taskId: "none" })],
  ["GetTask", ["runs:read"], { id: "none" }],
  ["ListTasks", ["runs:read"], {}],
  ["SubscribeToTask", ["runs:read"], { id: "none" }],
  ["CancelTask", ["runs:write"], { id: "none" }],
  ["CreateTaskPushNotificationConfig", ["runs:write"], { taskId: "none", url: "https://x.test/" }],
  ["GetTaskPushNotificationConfig", ["runs:read"], { taskId: "none", id: "none" }],
  ["ListTaskPushNotificationConfigs", ["runs:read"], { taskId: "none" }],
  ["DeleteTaskPushNotificationConfig", ["runs:write"], { taskId: "none", id: "none" }],
  ["NoSuchMethod", [...SCOPES], {}],
])("%s needs its scope", async (method, needs, params) => {
  for (const scope of SCOPES) {
    const { status, body } = await post(worker, "desk", request(method, params), bearer(scope));
    // To stream what is said means to read it.
    const reads = method === "SendStreamingMessage" && scope === "requests:write";
    const allowed = needs.includes(scope) && !reads;
    expect(status, `${method} with ${scope}`).toBe(allowed ? 200 : 403);
    if (!allowed) {
      expect(body).toMatchObject({
        jsonrpc: "2.0",
        id: 1,
        error: { code: -32_000, data: [{ reason: "MISSING_SCOPE", domain: "troupe" }] },
      });
    }
  }
});

test("a request without a valid credential gets nothing", async () => {
  for (const headers of [{}, bearer("wrong")]) {
    const refused = await post(worker, "desk", request("ListTasks"), headers);
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(refused.body).toMatchObject({ jsonrpc: "2.0", id: null, error: { code: -32_000 } });
    const card = await worker.fetch("/a2a/teams/desk/.well-known/agent-card.json", { headers });
    expect(card.status).toBe(401);
    await card.body?.cancel();
  }
});

test("a team of another tenant does not exist, and a team token is valid for its team", async () => {
  const foreign = await post(
    worker,
    "desk",
    request("SendMessage", sent("Hello.")),
    bearer("globex"),
  );
  expect(foreign).toMatchObject({ status: 404, body: { id: 1, error: { code: -32_000 } } });
  await expect(clientOf(worker, "desk", bearer("globex"))).rejects.toThrow("404");
  const client = await clientOf(worker, "desk", bearer(token));
  expect(answerText(await send(client, "Hello."))).not.toBe("");
  const other = await post(worker, "asks", request("SendMessage", sent("Hello.")), bearer(token));
  expect(other).toMatchObject({
    status: 403,
    body: { error: { data: [{ reason: "OTHER_TEAM" }] } },
  });
});

test("a credential that may only answer reads nothing", async () => {
  const started = await post(
    worker,
    "asks",
    request("SendMessage", sent("Ask.", { contextId: "asks" })),
    bearer("acme"),
  );
  const { id } = started.body.result!["task"] as { id: string };
  const answer = request("SendMessage", sent("Lisbon", { taskId: id }));
  const { body } = await post(worker, "asks", answer, bearer("requests:write"));
  expect(body.result).toMatchObject({ task: { id, status: {}, metadata: {} } });
  expect(JSON.stringify(body)).not.toMatch(/Ask|Lisbon/);
});

test("the card describes the team", async () => {
  const response = await worker.fetch("/a2a/teams/desk/.well-known/agent-card.json", {
    headers: bearer("teams:read"),
  });
  const card = (await response.json()) as object;
  expect(card).toMatchObject({
    name: "News desk",
    version: "1",
    supportedInterfaces: [
      {
        url: `${await worker.origin}/a2a/teams/desk`,
        protocolBinding: "JSONRPC",
        protocolVersion: "1.0",
      },
      { protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
      { protocolBinding: "JSONRPC", protocolVersion: "0.3" },
    ],
    capabilities: { streaming: true, pushNotifications: true },
    skills: [
      { id: "writer", description: "Repeats its lines.", tags: ["AssistantAgent"] },
      { id: "critic" },
    ],
  });
  // Clients that say 1.0 get nothing else. Nothing in it is empty, which the types would leave out.
  const strict = await worker.fetch("/a2a/teams/desk/.well-known/agent-card.json", {
    headers: { ...bearer("teams:read"), "a2a-version": "1.0" },
  });
  expect(strict.headers.get("vary")).toContain("A2A-Version");
  const strictCard: unknown = await strict.json();
  expect(strictCard).toEqual(withoutLegacy(card));
  expect(AgentCard.toJSON(AgentCard.fromJSON(strictCard))).toEqual(strictCard);
  // What clients of 0.3 read.
  expect(card).toMatchObject({
    url: `${await worker.origin}/a2a/teams/desk`,
    preferredTransport: "JSONRPC",
    protocolVersion: "0.3.0",
    securitySchemes: { key: { type: "http", scheme: "Bearer" } },
    security: [{ key: ["runs:read", "runs:write"] }],
  });
});

test("a card is cached by its readers until it changes", async () => {
  await newTeam(worker, { id: "known", label: "One", component: SAMPLE_COMPONENT }, bearer("acme"));
  const path = "/a2a/teams/known/.well-known/agent-card.json";
  const get = (headers: object = {}) =>
    worker.fetch(path, { headers: { ...bearer("teams:read"), ...headers } });
  const first = await get();
  expect(first.headers.get("cache-control")).toBe("private, max-age=60");
  expect(Date.parse(first.headers.get("last-modified") ?? "")).not.toBeNaN();
  const etag = first.headers.get("etag") ?? "";
  await first.body?.cancel();
  for (const known of [etag, `"other", ${etag.replace("W/", "")}`, "*"]) {
    const again = await get({ "if-none-match": known });
    expect([again.status, await again.text(), again.headers.get("etag")]).toEqual([304, "", etag]);
  }
  await worker.fetch(
    "/v1/teams/known/component",
    jsonInit({ component: inTurn(HUMAN) }, "PUT", bearer("acme")),
  );
  const ofNewest = await get({ "if-none-match": etag, "a2a-version": "1.0" });
  expect(ofNewest.status).toBe(200);
  await ofNewest.body?.cancel();
  const changed = await get({ "if-none-match": etag });
  expect(changed.status).toBe(200);
  expect(changed.headers.get("etag")).not.toBe(etag);
  await changed.body?.cancel();
  const root = await worker.fetch("/.well-known/agent-card.json");
  const known = { "if-none-match": root.headers.get("etag") ?? "" };
  await root.body?.cancel();
  expect((await worker.fetch("/.well-known/agent-card.json", { headers: known })).status).toBe(304);
});

test("the team that A2A_TEAM names is found at the root without a credential", async () => {
  const response = await worker.fetch("/.well-known/agent-card.json");
  expect(response.headers.get("cache-control")).toBe("public, max-age=60");
  expect(await response.json()).toMatchObject({
    name: "News desk",
    supportedInterfaces: [{ url: `${await worker.origin}/a2a/teams/desk` }, {}, {}],
  });
  await using other = await TestWorker.start();
  const none = await other.fetch("/.well-known/agent-card.json");
  expect(none.status).toBe(404);
  await none.body?.cancel();
});

test("pages of allowed origins may send requests", async () => {
  const preflight = await worker.fetch("/a2a/teams/desk", {
    method: "OPTIONS",
    headers: {
      origin: ORIGIN,
      "access-control-request-method": "POST",
      "access-control-request-headers": "a2a-version",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toContain("A2A-Version");
});
