import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { careful } from "../../../../../console/test/support/components.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed } from "../../support/access.ts";
import { inTurn, newTeam } from "../../support/teams.ts";
import { initialize, lastOf, messagesOf, post, request } from "../support/messages.ts";

const VERSION = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";

let worker: TestWorker;
const acme = bearer("acme");

beforeAll(async () => {
  worker = await TestWorker.start(await deployed());
  await newTeam(worker, { id: "desk", component: SAMPLE_COMPONENT }, acme);
  await newTeam(worker, { id: "clerk", component: inTurn(careful()) }, acme);
});

afterAll(() => worker[Symbol.asyncDispose]());

/** A client of 2025-11-25 that approves what it is asked, and what it heard. */
async function connected(): Promise<{ client: Client; heard: unknown[] } & AsyncDisposable> {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: "legacy" } },
  );
  const heard: unknown[] = [];
  client.setRequestHandler("elicitation/create", () => ({
    action: "accept" as const,
    content: { approved: true },
  }));
  client.setNotificationHandler("notifications/message", ({ params }) => void heard.push(params));
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    heard.push(params.uri);
  });
  client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
  const url = new URL("/mcp", await worker.origin);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: acme } }));
  return { client, heard, [Symbol.asyncDispose]: () => client.close() };
}

const calculate = { name: "run_clerk", arguments: { task: "What is 6 * 7?" } };

test("a session gets log messages of the level that it has set, and none by default", async () => {
  await using session = await connected();
  await session.client.callTool(calculate);
  expect(session.heard).toEqual([]);
  await session.client.setLoggingLevel("info");
  await session.client.callTool(calculate);
  expect(session.heard).toMatchObject([
    { level: "info", logger: "troupe", data: { source: "clerk", calls: "calculator" } },
    { level: "notice", data: { source: "clerk", asks: "approval" } },
    { level: "info", data: { source: "clerk", called: "calculator", result: "42" } },
  ]);
  session.heard.length = 0;
  await session.client.setLoggingLevel("error");
  await session.client.callTool(calculate);
  expect(session.heard).toEqual([]);
  await session.client.setLoggingLevel("debug");
  await session.client.callTool(calculate);
  expect(session.heard).toContainEqual(
    expect.objectContaining({ level: "debug", data: { speaker: "clerk" } }),
  );
});

test("a call of 2026-07-28 gets log messages of the level that it names", async () => {
  const levelsOf = async (level?: string): Promise<unknown[]> => {
    const _meta = {
      [VERSION]: "2026-07-28",
      [CAPABILITIES]: {},
      ...(level !== undefined && { "io.modelcontextprotocol/logLevel": level }),
    };
    const params = { name: "run_desk", arguments: { task: "Hello." }, _meta };
    const response = await post(worker, request(1, "tools/call", params), {
      headers: {
        ...acme,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "run_desk",
      },
    });
    const levels: unknown[] = [];
    for await (const { method, params: given } of messagesOf(response))
      if (method === "notifications/message") levels.push((given as { level?: string }).level);
    return levels;
  };
  expect(await levelsOf()).toEqual([]);
  expect(await levelsOf("debug")).toContain("debug");
});

test("a session gets changes of its subscribed threads, and of lists", async () => {
  await using session = await connected();
  const uri = "troupe://teams/desk/thread";
  const run = () =>
    worker.fetch("/v1/teams/desk/runs?wait=30", jsonInit({ task: "Hello." }, "POST", acme));
  // The session's stream is open once it hears of a new team.
  let count = 0;
  await expect
    .poll(async () => {
      await newTeam(worker, { id: `new${++count}`, component: SAMPLE_COMPONENT }, acme);
      return session.heard;
    })
    .toContain("tools");
  await run();
  await session.client.subscribeResource({ uri });
  session.heard.length = 0;
  await run();
  await expect.poll(() => session.heard).toContain(uri);
  await session.client.unsubscribeResource({ uri });
  session.heard.length = 0;
  await run();
  await newTeam(worker, { id: "last", component: SAMPLE_COMPONENT }, acme);
  await expect.poll(() => session.heard).toContain("tools");
  expect(session.heard).not.toContain(uri);
  const nothing = session.client.subscribeResource({ uri: "troupe://teams/nobody/thread" });
  await expect(nothing).rejects.toThrow("not found");
});

test("settings need a session and belong to its caller", async () => {
  const level = request(1, "logging/setLevel", { level: "debug" });
  const without = await lastOf(await post(worker, level, { headers: acme }));
  expect(without.error?.message).toContain("Mcp-Session-Id must be");
  const wrong = request(2, "logging/setLevel", { level: "loud" });
  const headers = { ...acme, "mcp-session-id": await initialize(worker, {}, { headers: acme }) };
  expect((await lastOf(await post(worker, wrong, { headers }))).error?.message).toContain("level");
  // Another caller that knows the session's id changes nothing of it.
  const other = { ...headers, ...bearer("teams:read") };
  await lastOf(await post(worker, level, { headers: other }));
  const call = request(3, "tools/call", { name: "run_desk", arguments: { task: "Hello." } });
  const methods: unknown[] = [];
  for await (const { method } of messagesOf(await post(worker, call, { headers })))
    methods.push(method);
  expect(methods).not.toContain("notifications/message");
});

test("a session has at most 50 subscriptions", async () => {
  const headers = { ...acme, "mcp-session-id": await initialize(worker, {}, { headers: acme }) };
  const subscribe = async (before: number) =>
    lastOf(
      await post(
        worker,
        request(before, "resources/subscribe", {
          uri: `troupe://teams/desk/thread?before=${before}`,
        }),
        { headers },
      ),
    );
  for (let count = 1; count <= 50; count++) expect((await subscribe(count)).error).toBeUndefined();
  expect((await subscribe(51)).error?.message).toContain("at most 50 subscriptions");
  expect((await subscribe(50)).error).toBeUndefined();
});
