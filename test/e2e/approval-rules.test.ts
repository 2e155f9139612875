// Approval by rule over HTTP: keys of approvals:finance, a quorum, changed arguments and stored approvals, over kill -9.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import type { AnsweredRun, RunInfo } from "#contract/run.ts";
import type { DecisionPage, StoredApprovalPage } from "#contract/approval.ts";
import { sha256Hex } from "#core/hash.ts";
import { TestMcpServer } from "../components/mcp/support/test-server.ts";
import { EchoServer } from "../support/echo-server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";

const SHOP = "shop-secret";
const FINANCE = "approvals:finance";

let worker: KillableWorker;
let server: EchoServer;
let mcp: TestMcpServer;
/** Keys by the name of their person. */
const keys: Record<"ada" | "bob" | "clara" | "eve", string> = {
  ada: "",
  bob: "",
  clara: "",
  eve: "",
};

beforeAll(async () => {
  server = await EchoServer.start((response) => void response.end("paid"));
  mcp = await TestMcpServer.start();
  worker = await KillableWorker.start({
    TROUPE_OPEN: "",
    ALLOWED_EGRESS: [`http://127.0.0.1:${server.port}`, new URL(mcp.url).origin].join(","),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex(SHOP), tenant: "acme", name: "shop", scopes: [...SCOPES, FINANCE] },
    ]),
  });
  const finance = ["runs:read", "requests:write", FINANCE];
  for (const [name, scopes] of [
    ["ada", finance],
    ["bob", finance],
    ["clara", [...finance, "teams:write"]],
    ["eve", ["runs:read", "runs:write", "requests:write"]],
  ] as const) {
    const made = await ask<{ key: string }>("/v1/keys", { name, scopes });
    expect(made, JSON.stringify(made)).toMatchObject({ http: 201 });
    keys[name] = made.key;
  }
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});

async function ask<T>(
  path: string,
  body?: unknown,
  key = SHOP,
  method = body === undefined ? "GET" : "POST",
): Promise<T & { http: number }> {
  const headers = { authorization: `Bearer ${key}` };
  const init = body === undefined ? { method, headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  return { ...(text === "" ? {} : (JSON.parse(text) as object)), http: response.status } as T & {
    http: number;
  };
}

async function killed(): Promise<void> {
  await worker.kill();
  await worker.restart();
}

function clerk(approval: object, amounts: number[] = [900]): object {
  const calls = amounts.map((amount) => ({ name: "refund", args: { amount } }));
  const config = {
    name: "refund",
    host: "127.0.0.1",
    port: server.port,
    path: "/refund",
    method: "POST",
    json_schema: {
      type: "object",
      properties: { amount: { type: "number" } },
      required: ["amount"],
    },
    approval,
  };
  return agentOf(calls, { tools: [{ provider: "autogen_ext.tools.http.HttpTool", config }] });
}

/** An agent whose model asks for these calls at once. */
function agentOf(calls: readonly { name: string; args: object }[], parts: object): object {
  const content = calls.map(({ name, args }, index) => ({
    id: `c${index}`,
    name,
    arguments: JSON.stringify(args),
  }));
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const abilities = { vision: false, json_output: false, structured_output: false };
  return {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "clerk",
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: {
          chat_completions: [{ finish_reason: "function_calls", content, usage, cached: false }],
          cycle: true,
          model_info: { ...abilities, function_calling: true, family: "unknown" },
        },
      },
      ...parts,
    },
  };
}

async function created(id: string, approval: object, amounts?: number[]): Promise<void> {
  const team = await ask("/v1/teams", { id, component: clerk(approval, amounts) });
  expect(team, JSON.stringify(team)).toMatchObject({ http: 201 });
}

/** A run that has asked, or has ended. */
async function rested(team: string): Promise<RunInfo> {
  const { id } = await ask<RunInfo>(`/v1/teams/${team}/runs`, { task: "My money." });
  return until(team, id, /^(waiting|completed)$/);
}

async function until(team: string, id: string, status: RegExp): Promise<RunInfo> {
  let run: RunInfo | undefined;
  await expect
    .poll(async () => (run = await ask<RunInfo>(`/v1/teams/${team}/runs/${id}`)).status)
    .toMatch(status);
  return run as RunInfo;
}

function answer(
  { team_id, id, requests: [request] }: RunInfo,
  person: keyof typeof keys,
  body: object,
): Promise<AnsweredRun & { http: number }> {
  const path = `/v1/teams/${team_id}/runs/${id}/requests/${request?.id}`;
  return ask(path, body, keys[person]);
}

const decisions = ({ team_id, id }: RunInfo) =>
  ask<DecisionPage>(`/v1/teams/${team_id}/runs/${id}/decisions`);
const stored = (team: string) => ask<StoredApprovalPage>(`/v1/teams/${team}/approvals`);

/** The amounts that were paid since the last look. */
function paid(): unknown[] {
  return server.requests.splice(0).map(({ body }) => (JSON.parse(body) as RunAmount).amount);
}
interface RunAmount {
  amount: number;
}

describe("a rule that names a scope and a quorum", () => {
  const rule = { when: [{ argument: "amount", above: 100 }], by: [FINANCE], quorum: 2 };

  test("needs two keys of the scope, and each answer survives kill -9", async () => {
    await created("quorum", rule, [900, 90]);
    const run = await rested("quorum");
    expect(run).toMatchObject({
      status: "waiting",
      requests: [{ rule, matched: [{ condition: rule.when[0], value: 900 }] }],
    });
    await expect.poll(() => server.requests.length).toBe(1);
    expect(paid()).toEqual([90]);
    expect(await answer(run, "eve", { approved: true })).toMatchObject({
      http: 403,
      code: "not_an_approver",
    });
    expect(await answer(run, "ada", { approved: true, allow: "run" })).toMatchObject({
      http: 422,
      code: "not_rememberable",
      errors: [{ path: "allow" }],
    });
    expect(await answer(run, "ada", { approved: true, reason: "fine" })).toMatchObject({
      http: 200,
      status: "waiting",
      approvals: [{ subject: "ada", approved: true, reason: "fine" }],
    });
    await killed();
    expect(await answer(run, "ada", { approved: true, reason: "fine" })).toMatchObject({
      http: 200,
      approvals: [{ subject: "ada" }],
    });
    expect(await answer(run, "ada", { approved: false })).toMatchObject({
      http: 409,
      code: "already_answered",
    });
    const changed = await answer(run, "bob", { approved: true, arguments: { amount: 800 } });
    expect(changed).toMatchObject({
      http: 200,
      approvals: [{ subject: "bob" }],
      requests: [{ revision: 2, matched: [{ value: 800 }] }],
    });
    await killed();
    expect(await answer(run, "ada", { approved: true, revision: 1 })).toMatchObject({
      http: 409,
      code: "arguments_changed",
      revision: 2,
    });
    expect(await answer(run, "ada", { approved: true, revision: 2 })).toMatchObject({
      http: 200,
      approvals: [{ subject: "bob" }, { subject: "ada" }],
    });
    await until("quorum", run.id, /^completed$/);
    expect(paid()).toEqual([800]);
    const found = await decisions(run);
    expect(found.decisions).toMatchObject([
      { outcome: "ran", arguments: { amount: 90 }, by: [], request_id: null },
      {
        outcome: "approved",
        arguments: { amount: 800 },
        rule,
        by: [{ subject: "bob" }, { subject: "ada" }],
        request_id: run.requests[0]?.id,
      },
    ]);
  });

  test("is closed by one refusal", async () => {
    await created("refused", rule);
    const run = await rested("refused");
    await answer(run, "ada", { approved: true });
    expect(await answer(run, "bob", { approved: false, reason: "no" })).toMatchObject({
      http: 200,
      approvals: [{ subject: "ada" }, { subject: "bob", approved: false }],
    });
    await until("refused", run.id, /^completed$/);
    expect(await answer(run, "clara", { approved: true })).toMatchObject({
      http: 409,
      code: "already_answered",
    });
    expect(paid()).toEqual([]);
    expect((await decisions(run)).decisions).toMatchObject([
      { outcome: "refused", by: [{ subject: "ada" }, { subject: "bob", reason: "no" }] },
    ]);
  });
});

describe("an approval that is remembered", () => {
  test("counts for the team with teams:write, over kill -9, until it is revoked", async () => {
    await created("allowed", { by: [FINANCE], remember: "team" });
    const run = await rested("allowed");
    expect(run.requests[0]?.allow).toEqual(["run", "team"]);
    const allow = { approved: true, allow: "team" };
    expect(await answer(run, "ada", allow)).toMatchObject({
      http: 403,
      code: "missing_scope",
      scope: "teams:write",
    });
    expect(await answer(run, "clara", allow)).toMatchObject({ http: 200 });
    await until("allowed", run.id, /^completed$/);
    await killed();
    const next = await rested("allowed");
    expect(next.status).toBe("completed");
    expect(paid()).toEqual([900, 900]);
    expect((await decisions(next)).decisions).toMatchObject([
      { outcome: "ran", by: [{ subject: "clara" }], request_id: null },
    ]);
    const { approvals } = await stored("allowed");
    expect(approvals).toMatchObject([
      { agent: "clerk", tool: "refund", by: ["clara"], uses: 1, run_id: null },
    ]);
    const path = `/v1/teams/allowed/approvals/${approvals[0]?.id}`;
    expect(await ask(path, undefined, keys.ada, "DELETE")).toMatchObject({
      http: 403,
      code: "missing_scope",
    });
    expect(await ask(path, undefined, keys.clara, "DELETE")).toEqual({ http: 204 });
    await killed();
    expect(await ask(path, undefined, keys.clara, "DELETE")).toMatchObject({
      http: 404,
      code: "approval_not_found",
    });
    expect((await rested("allowed")).status).toBe("waiting");
  });

  test("counts for equal calls of its run only", async () => {
    await created("in-run", { by: [FINANCE], remember: "run" }, [7, 7]);
    const run = await rested("in-run");
    expect(run.requests).toHaveLength(2);
    expect(await answer(run, "clara", { approved: true, allow: "team" })).toMatchObject({
      http: 422,
      code: "not_rememberable",
    });
    expect(await answer(run, "ada", { approved: true, allow: "run" })).toMatchObject({ http: 200 });
    await until("in-run", run.id, /^completed$/);
    expect(paid()).toEqual([7, 7]);
    expect((await stored("in-run")).approvals).toEqual([]);
    expect((await rested("in-run")).requests).toHaveLength(2);
  });
});

test("a rule of an MCP workbench judges each tool, and tool_overrides replace it for one", async () => {
  const config = {
    server_params: { type: "StreamableHttpServerParams", url: mcp.url },
    approval: { when: [{ argument: "amount", above: 100 }], by: [FINANCE] },
    tool_overrides: { echo: { approval: { when: [{ argument: "text", matches: "secret" }] } } },
  };
  const calls = [
    { name: "pay", args: { amount: 50 } },
    { name: "pay", args: { amount: 500 } },
    { name: "echo", args: { text: "hello" } },
    { name: "echo", args: { text: "a secret" } },
  ];
  const workbench = [{ provider: "autogen_ext.tools.mcp.McpWorkbench", config }];
  const component = agentOf(calls, { workbench });
  expect(await ask("/v1/teams", { id: "bench", component })).toMatchObject({ http: 201 });
  const run = await rested("bench");
  expect(run.requests.map(({ tool_call, matched }) => [tool_call?.name, matched])).toEqual([
    ["pay", [{ condition: config.approval.when[0], value: 500 }]],
    ["echo", [{ condition: config.tool_overrides.echo.approval.when[0], value: "a secret" }]],
  ]);
  const [, echo] = run.requests;
  expect(await answer(run, "eve", { approved: true })).toMatchObject({ code: "not_an_approver" });
  const own = { ...run, requests: echo ? [echo] : [] };
  expect(await answer(own, "eve", { approved: false })).toMatchObject({ http: 200 });
  expect(await answer(run, "ada", { approved: true })).toMatchObject({ http: 200 });
  await until("bench", run.id, /^completed$/);
  expect((await decisions(run)).decisions.map(({ tool, outcome }) => `${tool} ${outcome}`)).toEqual(
    expect.arrayContaining(["pay ran", "pay approved", "echo ran", "echo refused"]),
  );
  const made = mcp.tools.calls.map(({ name }) => name).toSorted();
  expect(made).toEqual(["echo", "pay", "pay"]);
});

test("a rule that cannot be fulfilled is refused when the team is created", async () => {
  const component = clerk({ by: ["user:anna"], quorum: 2, when: [{ argument: "amount" }] });
  const refused = await ask<{ errors: object[] }>("/v1/teams", { component });
  expect(refused.http).toBe(422);
  const errors = JSON.stringify(refused.errors);
  expect(errors).toContain("approval");
});

test("a key gets scopes of approvals that its maker has, and no others", async () => {
  expect(await ask("/v1/keys", { name: "sales", scopes: ["approvals:sales"] })).toMatchObject({
    http: 403,
  });
  const wrong = await ask("/v1/keys", { name: "wrong", scopes: ["approvals:a b"] });
  expect(wrong).toMatchObject({ http: 422, errors: [{ path: "scopes[0]" }] });
});
