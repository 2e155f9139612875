import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { ReplayChatCompletionClient, AssistantAgent, dumpComponent } from "troupe";
import { SCOPES } from "#contract/constants.ts";
import type { RunList, RunTotals, TeamList } from "#contract/directory.ts";
import type { FailureList } from "#contract/run-failures.ts";
import type { UsageReport } from "#contract/usage/usage-report.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";
import { PATIENCE } from "../../../support/patience.ts";

let worker: TestWorker;
/** The ids of the runs, by name. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  const hash = (key: string): Promise<string> => sha256Hex(key);
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify([
      { hash: await hash("all"), tenant: "acme", scopes: SCOPES },
      { hash: await hash("teams"), tenant: "acme", scopes: ["teams:read"] },
      { hash: await hash("other"), tenant: "other", scopes: SCOPES },
    ]),
    MODEL_PRICES: JSON.stringify({ replay: { input: 1_000_000, output: 1_000_000 } }),
    CURRENCY: "EUR",
  });
  for (const [team, replies] of [
    ["short", ["A word."]],
    ["long", ["Very many words about Grüße from a lighthouse."]],
    ["broken", []],
  ] as const) {
    const modelClient = new ReplayChatCompletionClient([...replies]);
    const component = dumpComponent(new AssistantAgent({ name: `${team}_agent`, modelClient }));
    await ask("/v1/teams", jsonInit({ id: team, component }));
    const { id } = await ask<{ id: string }>(
      `/v1/teams/${team}/runs?wait=60`,
      jsonInit({ task: `Say it, ${team}.` }),
    );
    ids[team] = id;
  }
  await vi.waitFor(async () => expect(await list("")).toHaveLength(3), PATIENCE);
});

afterAll(() => worker[Symbol.asyncDispose]());

async function respond(path: string, init: RequestInit = {}, key = "all"): Promise<Response> {
  const headers = { ...(init.headers as object), authorization: `Bearer ${key}` };
  return worker.fetch(path, { ...init, headers });
}

async function ask<T>(path: string, init?: RequestInit, key?: string): Promise<T> {
  return (await (await respond(path, init, key)).json()) as T;
}

/** The teams of the runs that a query lists. */
async function list(query: string): Promise<string[]> {
  const { runs } = await ask<RunList>(`/v1/runs?${query}`);
  return runs.map(({ team_id }) => team_id);
}

test("a run is listed with its task, its answer and its cost", async () => {
  const { runs, totals } = await ask<RunList>("/v1/runs");
  expect(runs.map(({ task, answer, error }) => ({ task, answer, error: error?.type }))).toEqual([
    { task: "Say it, broken.", answer: null, error: "model_exhausted" },
    {
      task: "Say it, long.",
      answer: { source: "long_agent", text: "Very many words about Grüße from a lighthouse." },
      error: undefined,
    },
    {
      task: "Say it, short.",
      answer: { source: "short_agent", text: "A word." },
      error: undefined,
    },
  ]);
  expect(runs[0]).toMatchObject({ component_version: 1, error: { agent: "broken_agent" } });
  expect(totals).toMatchObject({
    runs: 3,
    completed: 2,
    failed: 1,
    cancelled: 0,
    open: 0,
    complete: true,
    next_cursor: null,
  });
  expect(totals.cost).toBe(runs.reduce((sum, { cost }) => sum + (cost ?? 0), 0));
  expect(totals.p50_seconds).toBeLessThanOrEqual(totals.p95_seconds ?? 0);
});

test("runs are searched, filtered and sorted", async () => {
  expect(await list("q=GR%C3%9C%C3%9FE")).toEqual(["long"]);
  expect(await list("q=say%20it")).toEqual(["broken", "long", "short"]);
  expect(await list(`q=${ids["short"]}`)).toEqual(["short"]);
  expect(await list("model=replay")).toEqual(["long", "short"]);
  expect(await list("model=constructor")).toEqual([]);
  expect(await list("error=model_exhausted")).toEqual(["broken"]);
  expect(await list("status=completed&order=cost")).toEqual(["long", "short"]);
  const { runs } = await ask<RunList>("/v1/runs?team=long");
  expect(await list(`min_cost=${runs[0]?.cost}`)).toEqual(["long"]);
  const filtered = await ask<RunList>("/v1/runs?team=long");
  expect(filtered.totals).toMatchObject({ runs: 1, cost: runs[0]?.cost });
  const seconds = (await ask<RunList>("/v1/runs?order=seconds")).runs.map(
    ({ started_at, ended_at }) => Date.parse(ended_at ?? "") - Date.parse(started_at ?? ""),
  );
  expect(seconds).toEqual(seconds.toSorted((one, other) => other - one));
});

test("a sorted list continues where its page ended, with the same totals", async () => {
  for (const order of ["created_at", "cost", "seconds"]) {
    const all = await list(`order=${order}`);
    const seen: string[] = [];
    let cursor = "";
    for (let page = 0; page < 4; page++) {
      const path = `/v1/runs?limit=1&order=${order}${cursor}`;
      const { runs, totals, next_cursor } = await ask<RunList>(path);
      seen.push(...runs.map(({ team_id }) => team_id));
      expect(totals.runs).toBe(3);
      if (next_cursor === null) break;
      cursor = `&cursor=${next_cursor}`;
    }
    expect(seen).toEqual(all);
  }
});

test("a range is of the days or times at which runs ended, both included", async () => {
  const { runs } = await ask<RunList>("/v1/runs?team=long");
  const ended = runs[0]?.ended_at ?? "";
  const day = ended.slice(0, 10);
  expect(await list(`from=${day}&to=${day}&team=long`)).toEqual(["long"]);
  expect(await list(`from=${ended}&to=${ended}`)).toEqual(["long"]);
  expect(await list("from=2020-01-01&to=2020-01-31")).toEqual([]);
  expect(await list("from=2100-01-01")).toEqual([]);
});

test("an invalid query of runs is refused with the field's name", async () => {
  for (const [query, path] of [
    ["q=", "q"],
    ["from=yesterday", "from"],
    ["to=2026-13-01", "to"],
    ["from=2026-02-02&to=2026-02-01", "from"],
    ["order=name", "order"],
    ["min_cost=-1", "min_cost"],
    ["min_cost=much", "min_cost"],
    ["order=cost&cursor=x", "cursor"],
    ["totals_after=x", "totals_after"],
  ]) {
    const response = await respond(`/v1/runs?${query}`);
    const { errors } = (await response.json()) as { errors: unknown };
    expect({ query, status: response.status, errors }).toMatchObject({
      query,
      status: 422,
      errors: [{ path }],
    });
  }
});

test("another tenant sees none of these runs, and the scope is needed", async () => {
  expect(await ask("/v1/runs?q=say", {}, "other")).toEqual({
    runs: [],
    totals: {
      runs: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
      turns: 0,
      prompt_tokens: 0,
      completion_tokens: 0,
      cost: null,
      seconds: 0,
      p50_seconds: null,
      p95_seconds: null,
      open: 0,
      complete: true,
      next_cursor: null,
    },
    complete: true,
    next_cursor: null,
  });
  expect((await respond("/v1/runs", {}, "teams")).status).toBe(403);
});

test("totals of days are those of the usage report, by team and by model, too", async () => {
  const today = new Date().toISOString().slice(0, 10);
  const amounts = ({ runs, turns, prompt_tokens, completion_tokens, cost }: RunTotals) => {
    return { runs, turns, prompt_tokens, completion_tokens, cost };
  };
  const totals = async (query: string) => (await ask<RunList>(`/v1/runs?${query}`)).totals;
  const report = (query: string) => ask<UsageReport>(`/v1/usage?${query}`);
  const range = `from=2026-01-01&to=${today}`;
  const all = await totals(range);
  expect({ ...amounts(all), failed: all.failed }).toEqual(
    (await report(`from=${today}&to=${today}`)).total,
  );
  for (const row of (await report("by=team")).usage) {
    expect(row.team_label).toBeNull();
    expect(amounts(await totals(`team=${row.team}&${range}`))).toMatchObject({ cost: row.cost });
  }
  const [model] = (await report("by=model")).usage;
  expect(model).toMatchObject(amounts(await totals(`model=replay&${range}`)));
});

test("a whole id of a run finds this run alone, with the label of its team", async () => {
  const found = await ask<RunList>(`/v1/runs?q=${ids["long"]?.toUpperCase()}`);
  expect(found).toMatchObject({
    runs: [{ id: ids["long"], team_label: null }],
    totals: { runs: 1, completed: 1, complete: true },
    next_cursor: null,
  });
  expect(await list(`q=${ids["long"]}&status=failed`)).toEqual([]);
});

test("failed runs are listed in groups with the agent, the version and what can be retried", async () => {
  const failures = await ask<FailureList>("/v1/runs/failures?since=2026-01-01");
  const [{ runs }] = [await ask<RunList>("/v1/runs?status=failed")];
  expect(failures).toEqual({
    groups: [
      {
        error: "model_exhausted",
        message: expect.stringMatching(/^\D+$/),
        agent: "broken_agent",
        component_version: 1,
        count: 1,
        teams: 1,
        first_at: runs[0]?.ended_at,
        last_at: runs[0]?.ended_at,
        retryable: 1,
        latest: [{ team_id: "broken", run_id: ids["broken"] }],
      },
    ],
    complete: true,
    next_cursor: null,
  });
  expect(await ask("/v1/runs/failures?since=2100-01-01")).toMatchObject({ groups: [] });
  expect(await ask("/v1/runs/failures", {}, "other")).toMatchObject({ groups: [] });
  for (const [query, path] of [
    ["since=yesterday", "since"],
    ["limit=0", "limit"],
    ["cursor=x", "cursor"],
    ["status=failed", "status"],
  ]) {
    const response = await respond(`/v1/runs/failures?${query}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ errors: [{ path }] });
  }
});

test("a team is listed with its participants and its last run", async () => {
  const { teams } = await ask<TeamList>("/v1/teams", {}, "teams");
  const team = (id: string): unknown => teams.find((one) => one.id === id);
  expect(team("broken")).toMatchObject({
    participants: ["broken_agent"],
    last_run: { id: ids["broken"], status: "failed", error: { type: "model_exhausted" } },
  });
  expect(team("short")).toMatchObject({
    last_run: { status: "completed", answer: { source: "short_agent", text: "A word." } },
  });
  const idle = dumpComponent(
    new AssistantAgent({ name: "idle_agent", modelClient: new ReplayChatCompletionClient([]) }),
  );
  await ask("/v1/teams", jsonInit({ id: "idle", component: idle }));
  const listed = await ask<TeamList>("/v1/teams?q=idle");
  expect(listed.teams[0]?.last_run).toBeNull();
});

test("whoami names the currency of the prices", async () => {
  expect(await ask("/v1/whoami")).toMatchObject({ currency: "EUR" });
});
