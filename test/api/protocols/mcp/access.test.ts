import { afterAll, beforeAll, expect, test } from "vitest";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { CLIENTS, connect } from "./support/clients.ts";
import { lastOf, post, request } from "./support/messages.ts";
import { ask } from "./support/tasks.ts";
import { bearer, deployed, ORIGIN, teamToken } from "../support/access.ts";
import { post as postA2A, request as requestA2A, sent as sentA2A } from "../a2a/support/rpc.ts";
import { conversationsOf, HUMAN, inTurn, newTeam } from "../support/teams.ts";

let worker: TestWorker;
let token: string;

beforeAll(async () => {
  worker = await TestWorker.start(await deployed({ MCP_TEMPLATES: "none" }));
  await newTeam(worker, { id: "desk", component: SAMPLE_COMPONENT }, bearer("acme"));
  await newTeam(worker, { id: "asks", component: inTurn(HUMAN) }, bearer("acme"));
  token = await teamToken(worker, "desk", ["teams:read", "runs:write"]);
});

afterAll(() => worker[Symbol.asyncDispose]());

const ping = request(1, "ping");
const tool = (name: string, given: object) => request(1, "tools/call", { name, arguments: given });

test.each<[string, Scope[], object]>([
  ["tools/list", ["teams:read"], request(1, "tools/list")],
  ["resources/list", ["teams:read"], request(1, "resources/list")],
  ["prompts/list", ["teams:read"], request(1, "prompts/list")],
  [
    "completion/complete",
    ["teams:read"],
    request(1, "completion/complete", {
      ref: { type: "ref/resource", uri: "troupe://teams/{team}/thread{?before}" },
      argument: { name: "team", value: "" },
    }),
  ],
  ["list_teams", ["teams:read"], tool("list_teams", {})],
  ["run_desk", ["runs:write"], tool("run_desk", { task: "Hello.", wait_seconds: 0 })],
  ["get_run", ["runs:read"], tool("get_run", { team_id: "desk", run_id: "none" })],
  ["read_run", ["runs:read"], tool("read_run", { team_id: "desk", run_id: "none" })],
  ["stop_run", ["runs:write"], tool("stop_run", { team_id: "desk", run_id: "none" })],
  [
    "answer_request",
    ["requests:write", "runs:write"],
    tool("answer_request", { team_id: "desk", run_id: "none", request_id: "none", content: "x" }),
  ],
  [
    "the answer to a form",
    ["requests:write", "runs:write"],
    { jsonrpc: "2.0", id: "troupe-question/desk/none/input/none", result: { action: "cancel" } },
  ],
  ["tasks/get", ["runs:read", "runs:write"], request(1, "tasks/get", { taskId: "desk/none" })],
  [
    "tasks/update",
    ["requests:write", "runs:write"],
    request(1, "tasks/update", { taskId: "desk/none", inputResponses: {} }),
  ],
  ["tasks/cancel", ["runs:write"], request(1, "tasks/cancel", { taskId: "desk/none" })],
  ["ping", [...SCOPES], ping],
])("%s needs its scope", async (_, needs, body) => {
  for (const path of ["/mcp", "/mcp/teams/desk"]) {
    // Only of the tenant.
    if (path !== "/mcp" && /prompts|list_teams/.test(JSON.stringify(body))) continue;
    for (const scope of SCOPES) {
      const response = await post(worker, body, { path, headers: bearer(scope) });
      const allowed = needs.includes(scope);
      expect(response.status < 300, `${scope} at ${path}: ${response.status}`).toBe(allowed);
      if (!allowed)
        expect(await response.json()).toMatchObject({ status: 403, code: "missing_scope" });
      else await response.text();
    }
  }
});

test("tools and resources exist for teams that were created to be called, and not for conversations of other protocols", async () => {
  const headers = bearer("acme");
  const listed = async (): Promise<string[]> => {
    const [tools, resources, teams, models] = [
      await lastOf(await post(worker, request(1, "tools/list"), { headers })),
      await lastOf(await post(worker, request(1, "resources/list"), { headers })),
      await lastOf(await post(worker, tool("list_teams", {}), { headers })),
      (await (await worker.fetch("/openai/v1/models", { headers })).json()) as {
        data: { id: string }[];
      },
    ];
    return [
      ...tools.result!.tools!.map(({ name }) => name),
      ...resources.result!.resources!.map(({ uri }) => uri),
      ...teams.result!.structuredContent.teams!.map(({ id }) => id),
      ...models.data.map(({ id }) => id),
    ].toSorted();
  };
  const before = await listed();
  const chat = {
    model: "template:writer_critic",
    messages: [{ role: "user", content: "Hi." }],
    stream: true,
  };
  for (let count = 0; count < 5; count++) {
    const answered = await worker.fetch(
      "/openai/v1/chat/completions",
      jsonInit(chat, "POST", headers),
    );
    expect(answered.status).toBe(200);
    await answered.body?.cancel();
    const { message } = sentA2A("Hi.");
    const asked = await postA2A(worker, "desk", requestA2A("SendMessage", { message }), headers);
    expect(asked.body.error).toBeUndefined();
  }
  expect(await listed()).toEqual(before);
  // They are there, for those who look for them.
  const all = (await (await worker.fetch("/v1/teams", { headers })).json()) as {
    teams: { expires_in: number | null }[];
  };
  expect(all.teams.filter(({ expires_in }) => expires_in === 3600)).toHaveLength(5);
  expect(await conversationsOf(worker, "desk", headers)).toHaveLength(5);
});

test("a client sees the tools that it may call", async () => {
  const { result } = await lastOf(
    await post(worker, request(1, "tools/list"), { headers: bearer("teams:read") }),
  );
  expect(result?.tools?.map(({ name }) => name)).toEqual(["list_teams"]);
});

test("a request without a valid credential gets nothing", async () => {
  for (const headers of [{}, bearer("wrong")]) {
    const response = await post(worker, ping, { headers });
    expect(response.status).toBe(401);
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
    await response.body?.cancel();
  }
});

test.each(CLIENTS)("a client of %s sees nothing of another tenant", async (name) => {
  await using client = await connect(name, {
    url: new URL("/mcp", await worker.origin),
    headers: bearer("globex"),
  });
  const { tools } = await client.client.listTools();
  expect(tools.map((one) => one.name)).toEqual([
    "list_teams",
    "get_run",
    "answer_request",
    "stop_run",
  ]);
  expect((await client.client.listResources()).resources).toEqual([]);
  await expect(client.call({ name: "run_desk", arguments: { task: "Hello." } })).rejects.toThrow(
    "There is no tool",
  );
  await expect(client.client.readResource({ uri: "troupe://teams/desk/thread" })).rejects.toThrow();
  const foreign = new URL("/mcp/teams/desk", await worker.origin);
  await expect(connect(name, { url: foreign, headers: bearer("globex") })).rejects.toThrow("404");
});

test("the answer to a form of another tenant, or of another team, has no effect", async () => {
  const started = await lastOf(
    await post(worker, tool("run_asks", { task: "Ask." }), { headers: bearer("acme") }),
  );
  const run = started.result!.structuredContent as unknown as {
    run_id: string;
    requests: { id: string }[];
  };
  const answer = {
    jsonrpc: "2.0",
    id: `troupe-question/asks/${run.run_id}/input/${run.requests[0]?.id}`,
    result: { action: "accept", content: { content: "Lisbon" } },
  };
  const status = async () => {
    const path = `/v1/teams/asks/runs/${run.run_id}`;
    const response = await worker.fetch(path, { headers: bearer("acme") });
    return ((await response.json()) as { status: string }).status;
  };
  for (const sent of [
    { headers: bearer("globex") },
    { path: "/mcp/teams/desk", headers: bearer(token) },
  ]) {
    expect((await post(worker, answer, sent)).status).toBe(202);
    expect(await status()).toBe("waiting");
  }
  expect((await post(worker, answer, { headers: bearer("acme") })).status).toBe(202);
  await expect.poll(status).toBe("completed");
});

test("a credential that may only read answers nothing, and one that may only answer reads nothing", async () => {
  await newTeam(worker, { id: "secretive", component: inTurn(HUMAN) }, bearer("acme"));
  const started = await lastOf(
    await post(worker, tool("run_secretive", { task: "Ask." }), { headers: bearer("acme") }),
  );
  const { run_id, requests } = started.result!.structuredContent as unknown as {
    run_id: string;
    requests: { id: string }[];
  };
  const place = { team_id: "secretive", run_id };
  const key = `input:${requests[0]!.id}`;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {} } },
  };
  const smuggled = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "get_run",
      arguments: { ...place, wait_seconds: 0 },
      inputResponses: { [key]: { action: "accept", content: { content: "Lisbon" } } },
      requestState: run_id,
      _meta: meta,
    },
  };
  const headers = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "get_run",
  };
  const read = await lastOf(
    await post(worker, smuggled, { headers: { ...headers, ...bearer("runs:read") } }),
  );
  expect(read.result?.structuredContent.status).toBe("waiting");
  const answer = tool("answer_request", {
    ...place,
    request_id: requests[0]!.id,
    content: "Lisbon",
  });
  const answered = await lastOf(await post(worker, answer, { headers: bearer("requests:write") }));
  expect(answered.result).toMatchObject({
    content: [{ text: "The answer was given." }],
    structuredContent: { run_id, text: null },
  });
  expect(JSON.stringify(answered)).not.toContain("Lisbon");
});

test("a task is found by credentials that may see its run, at an address that serves its team", async () => {
  const started = await ask(
    worker,
    "tools/call",
    { name: "run_asks", arguments: { task: "Ask." } },
    { headers: bearer("acme") },
  );
  const { taskId } = started.result!;
  const look = (sent: { path?: string; headers: Record<string, string> }) =>
    ask(worker, "tasks/get", { taskId }, sent);
  for (const sent of [
    { headers: bearer("globex") },
    { path: "/mcp/teams/desk", headers: bearer("acme") },
    { path: "/mcp/teams/desk", headers: bearer(token) },
  ]) {
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const { error } = await ask(worker, method, { taskId, inputResponses: {} }, sent);
      expect(error).toMatchObject({ code: -32_602, message: expect.stringContaining("no task") });
    }
  }
  await expect
    .poll(async () => (await look({ headers: bearer("acme") })).result?.status)
    .toBe("input_required");
  const own = { path: "/mcp/teams/asks", headers: bearer("acme") };
  expect((await look(own)).result?.status).toBe("input_required");
  // Who may not answer is not asked.
  const read = await look({ headers: bearer("runs:read") });
  expect(read.result).not.toHaveProperty("inputRequests");
  expect(read.result?.result?.structuredContent.status).toBe("waiting");
});

test("a team token is valid at its team's address only", async () => {
  const own = await post(worker, tool("run_desk", { task: "Hello." }), {
    path: "/mcp/teams/desk",
    headers: bearer(token),
  });
  expect((await lastOf(own)).result?.structuredContent.status).toBe("completed");
  for (const path of ["/mcp", "/mcp/teams/asks"]) {
    const response = await post(worker, ping, { path, headers: bearer(token) });
    expect(await response.json()).toMatchObject({ status: 403, code: "other_team" });
  }
});

test("pages of allowed origins may send requests and read the session", async () => {
  const preflight = await worker.fetch("/mcp", {
    method: "OPTIONS",
    headers: {
      origin: ORIGIN,
      "access-control-request-method": "POST",
      "access-control-request-headers": "mcp-protocol-version",
    },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get("access-control-allow-headers")).toContain("MCP-Protocol-Version");
  const response = await post(worker, ping, { headers: { origin: ORIGIN, ...bearer("acme") } });
  expect(response.headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
  await response.body?.cancel();
});
