import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { Principal } from "#api/auth/principal.ts";
import { SCOPES } from "#contract/constants.ts";
import type { RunInfo } from "#contract/run.ts";
import type { TenantLimits } from "#contract/tenant/tenant.ts";
import { sha256Hex } from "#core/hash.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { jsonInit, testApp } from "../../support/http-app.ts";
import { KillableWorker } from "../../support/killable-worker.ts";
import { PATIENCE } from "../../support/patience.ts";

const OPERATOR = "operator-secret";
/** An answer of this usage costs 100. */
const USAGE = { prompt_tokens: 10, completion_tokens: 100 };

let openai: FakeOpenAI;
let worker: KillableWorker;
let tenant: string;
let count = 0;

beforeAll(async () => {
  openai = await startFakeOpenAI();
  worker = await KillableWorker.start({
    TROUPE_OPEN: "",
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    OPENAI_API_KEY: "test-key",
    OPENAI_BASE_URL: `${openai.origin}/v1`,
    ALLOWED_EGRESS: openai.origin,
    MODEL_PRICES: JSON.stringify({ "gpt-4o": { input: 0, output: 1_000_000 } }),
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(() => {
  tenant = `spender-${++count}`;
  openai.log.requests.length = 0;
  openai.rules.set([{ name: "write", reply: { content: "A line.", usage: USAGE }, delay_ms: 100 }]);
});

function send(method: string, path: string, body?: unknown): Promise<Response> {
  const headers = { authorization: `Bearer ${OPERATOR}`, "troupe-tenant": tenant };
  return worker.fetch(
    path,
    body === undefined ? { method, headers } : jsonInit(body, method, headers),
  );
}

async function newTeam(id: string, component: unknown): Promise<void> {
  const response = await send("POST", "/v1/teams", { id, component });
  expect(response.status, await response.text()).toBe(201);
}

async function finished(team: string, body: object = {}): Promise<RunInfo> {
  const response = await send("POST", `/v1/teams/${team}/runs?wait=60`, {
    task: "Write.",
    ...body,
  });
  return (await response.json()) as RunInfo;
}

async function limit(limits: Partial<TenantLimits>): Promise<void> {
  const response = await send("PUT", `/v1/tenants/${tenant}`, { limits });
  expect(response.status, await response.text()).toBe(200);
}

function assistant(name: string, config: object = {}, model: object = {}) {
  return {
    provider: "AssistantAgent",
    config: {
      name,
      description: name,
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "gpt-4o", ...model },
      },
      reflect_on_tool_use: false,
      tool_call_summary_format: "{result}",
      ...config,
    },
  };
}

/** A call that finds no other under way may begin as long as anything is left, so one may be too much. */
function expectSpent(budget: number, runs: readonly RunInfo[]): void {
  const cost = runs.reduce((sum, run) => sum + (run.cost ?? 0), 0);
  expect(cost).toBeGreaterThan(budget - 100);
  expect(cost).toBeLessThanOrEqual(budget + 50);
}

const SIX = ["a", "b", "c", "d", "e", "f"];

function graph(model: object = {}) {
  const node = (name: string) => [name, { name, edges: [], activation: "all" }];
  return {
    provider: "GraphFlow",
    config: {
      participants: SIX.map((name) => assistant(name, {}, model)),
      graph: { nodes: Object.fromEntries(SIX.map(node)), default_start_node: null },
    },
  };
}

const lineUp = (turns: number) => ({
  provider: "RoundRobinGroupChat",
  config: { participants: [assistant("a")], max_turns: turns },
});

const withTools = assistant("lead", {
  tools: SIX.map((name) => ({ provider: "AgentTool", config: { agent: assistant(name) } })),
});

const failed = (type: string, cost: number): object => ({
  status: "failed",
  error: { type },
  cost,
});

describe("parallel calls reserve their maximum cost", () => {
  test.each([
    ["a limit of one", graph(), { max_cost: 150 }, failed("cost_limit", 100)],
    ["a limit of four", graph(), { max_cost: 450 }, failed("cost_limit", 400)],
    ["a limit of tokens", graph(), { max_total_tokens: 180 }, failed("token_limit", 100)],
    ["room for all", graph(), { max_cost: 600 }, { status: "completed", cost: 600 }],
    ["one after the other", lineUp(3), { max_cost: 150 }, failed("cost_limit", 200)],
  ])("%s", async (_, component, limits, expected) => {
    await newTeam("t", component);
    expect(await finished("t", limits)).toMatchObject(expected);
  });

  test("if a request has max_tokens, two at a time", async () => {
    await newTeam("t", graph({ max_tokens: 150 }));
    expect(await finished("t", { max_cost: 330 })).toMatchObject(failed("cost_limit", 200));
    expect(openai.log.requests).toHaveLength(2);
  });

  test("if agents are tools", async () => {
    const calls = SIX.map((name) => ({ name, arguments: { task: "Write." } }));
    openai.rules.set([
      {
        name: "lead",
        match: { role: "user" },
        times: 1,
        reply: { tool_calls: calls, usage: USAGE },
      },
      { name: "write", reply: { content: "A line.", usage: USAGE }, delay_ms: 100 },
    ]);
    await newTeam("t", withTools);
    expect(await finished("t", { max_cost: 250 })).toMatchObject(failed("cost_limit", 200));
  });

  test("when they run again after a kill, by the recorded steps", async () => {
    openai.rules.set([
      { name: "first", times: 1, reply: { content: "A line.", usage: USAGE } },
      { name: "held", times: 1, reply: { content: "Lost.", usage: USAGE }, hold: true },
      { name: "write", reply: { content: "A line.", usage: USAGE } },
    ]);
    await newTeam("t", graph());
    const started = await send("POST", "/v1/teams/t/runs", { task: "Write.", max_cost: 250 });
    const path = started.headers.get("location") ?? "";
    await vi.waitFor(() => expect(openai.log.requests).toHaveLength(2), PATIENCE);
    await worker.kill();
    await worker.restart();
    await expect
      .poll(async () => (await send("GET", path)).json(), PATIENCE)
      .toMatchObject(failed("cost_limit", 200));
  });
});

describe("a tenant's budget in money", () => {
  test.each(["cost_per_day", "cost_per_month"] as const)("%s holds for all teams", async (name) => {
    await newTeam("one", assistant("one"));
    await newTeam("two", assistant("two"));
    await limit({ [name]: 250 });
    const first = await Promise.all([finished("one"), finished("two")]);
    expect(first.map(({ status }) => status)).toEqual(["completed", "completed"]);
    await limit({ [name]: 350.5 });
    const runs = await Promise.all([finished("one"), finished("two")]);
    expect(runs.toSorted((a, b) => (b.cost ?? 0) - (a.cost ?? 0))).toMatchObject([
      { status: "completed", cost: 100 },
      { status: "failed", cost: null, error: { type: "too_many_costs" } },
    ]);
    expect(runs.find(({ error }) => error)?.error?.message).toContain(
      `limit of 350.5 ${name.replaceAll("_", " ")} (${name})`,
    );
    await limit({ [name]: 300 });
    const refused = await send("POST", "/v1/teams/one/runs", { task: "Write." });
    expect(refused.status).toBe(429);
    expect(await refused.json()).toMatchObject({
      code: "too_many_costs",
      limit: name,
      value: 300,
    });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(refused.headers.get("ratelimit")).toContain(name);
    expect(refused.headers.get("ratelimit-policy")).toContain(name);
    await limit({ [name]: null });
    expect(await finished("one")).toMatchObject({ status: "completed" });
  });

  test("holds for six parallel calls, and for runs that had begun when it was set", async () => {
    await newTeam("six", graph());
    await newTeam("line", lineUp(9));
    openai.rules.set([
      { name: "write", reply: { content: "A line.", usage: USAGE }, delay_ms: 300 },
    ]);
    const line = finished("line");
    await vi.waitFor(() => expect(openai.log.requests).toHaveLength(1), PATIENCE);
    await limit({ cost_per_day: 350 });
    const runs = await Promise.all([line, finished("six")]);
    expect(runs.map(({ status }) => status)).toEqual(["failed", "failed"]);
    expectSpent(350, runs);
  });

  test("counts the cost of runs that are killed with the tenant's object", async () => {
    openai.rules.set([
      { name: "first", times: 1, reply: { content: "A line.", usage: USAGE } },
      { name: "held", times: 1, reply: { content: "Lost.", usage: USAGE }, hold: true },
      { name: "write", reply: { content: "A line.", usage: USAGE }, delay_ms: 1000 },
    ]);
    await limit({ cost_per_day: 250 });
    await newTeam("killed", lineUp(2));
    await newTeam("other", lineUp(9));
    const started = await send("POST", "/v1/teams/killed/runs", { task: "Write." });
    await vi.waitFor(() => expect(openai.log.requests).toHaveLength(2), PATIENCE);
    // The tenant asks the teams whose runs it knows.
    await vi.waitFor(async () => {
      const { runs } = (await (await send("GET", "/v1/runs?status=running")).json()) as {
        runs: RunInfo[];
      };
      expect(runs).toHaveLength(1);
    }, PATIENCE);
    await worker.kill();
    await worker.restart();
    const other = await finished("other");
    expect(other).toMatchObject({ status: "failed", error: { type: "too_many_costs" } });
    const path = started.headers.get("location") ?? "";
    const killed = await vi.waitFor(async () => {
      const run = (await (await send("GET", path)).json()) as RunInfo;
      expect(run.ended_at).not.toBeNull();
      return run;
    }, PATIENCE);
    expectSpent(250, [killed, other]);
  });

  test("refuses a model without a price, and is refused without any price", async () => {
    await limit({ cost_per_day: 1_000 });
    await newTeam("t", assistant("a", {}, { model: "gpt-4o-mini" }));
    const { status, error } = await finished("t");
    expect([status, error?.type]).toEqual(["failed", "price_unknown"]);
    expect(error?.message).toContain('"gpt-4o-mini"');
    expect(error?.message).toContain("MODEL_PRICES");
    expect(openai.log.requests).toHaveLength(0);
    const operator: Principal = {
      id: "operator",
      tenant: "local",
      scopes: SCOPES,
      kind: "operator",
      name: "operator",
      expires_at: null,
    };
    const unpriced = testApp({ authenticate: () => Promise.resolve(operator) });
    const response = await unpriced.fetch(
      "/v1/tenants/local",
      jsonInit({ limits: { cost_per_day: 1, cost_per_month: null } }, "PUT"),
    );
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path: "limits.cost_per_day" }] });
  });
});
