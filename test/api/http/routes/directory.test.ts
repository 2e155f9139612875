import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { jsonInit } from "../../../support/http-app.ts";
import { SAMPLE_COMPONENT } from "../../../support/sample-component.ts";
import { TestWorker } from "../../../support/worker.ts";
import { PATIENCE } from "../../../support/patience.ts";

const OPERATOR = "operator-secret";
const HUMAN = {
  provider: "autogen_agentchat.agents.UserProxyAgent",
  component_type: "agent",
  config: { name: "human" },
};

let worker: TestWorker;
let count = 0;
/** A tenant of its own for each test, named by the operator. */
let tenant: string;

beforeAll(async () => {
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    SECRETS_KEY: btoa("k".repeat(32)),
    API_KEYS: JSON.stringify([
      { hash: await sha256Hex("other-secret"), tenant: "other", scopes: SCOPES },
    ]),
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    TENANT_REQUESTS_PER_SECOND: "1000",
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  tenant = `tenant-${++count}`;
});

/** What the tests read of bodies. */
interface Answer {
  id: string;
  key: string;
  next_cursor: string;
  errors: unknown;
  usage: unknown;
  total: unknown;
  tenants: { id: string }[];
  requests: { id: string; team_id: string; run_id: string }[];
}

interface Asked {
  body?: unknown;
  method?: string;
  headers?: Record<string, string>;
  as?: string;
}

async function ask(path: string, { body, method, headers = {}, as = tenant }: Asked = {}) {
  const all = {
    authorization: as === "other" ? "Bearer other-secret" : `Bearer ${OPERATOR}`,
    ...(as !== "other" && { "troupe-tenant": as }),
    ...headers,
  };
  const init = body === undefined ? { headers: all } : jsonInit(body, method ?? "POST", all);
  const response = await worker.fetch(path, { ...init, ...(method !== undefined && { method }) });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: (text ? JSON.parse(text) : {}) as Answer,
  };
}

async function create(id: string, more: object = {}): Promise<void> {
  const { status } = await ask("/v1/teams", { body: { id, component: SAMPLE_COMPONENT, ...more } });
  expect(status).toBe(201);
}

async function run(id: string): Promise<string> {
  const { status, body } = await ask(`/v1/teams/${id}/runs?wait=60`, { body: { task: "go" } });
  expect(status).toBe(200);
  return (body as { id: string }).id;
}

/** The ids in a list, once they are as many. */
async function ids(path: string, many: number): Promise<string[]> {
  return vi.waitFor(async () => {
    const { body } = await ask(path);
    const [items] = Object.values(body as object) as { id: string }[][];
    expect(items).toHaveLength(many);
    return (items ?? []).map(({ id }) => id);
  }, PATIENCE);
}

test("teams are listed by newest activity, filtered by text, metadata and status, in pages", async () => {
  for (const id of ["a", "b", "c"]) {
    await create(id, {
      label: `Team ${id.toUpperCase()}`,
      metadata: { env: id === "b" ? "dev" : "prod" },
    });
    await ids("/v1/teams", "abc".indexOf(id) + 1);
  }
  await run("a");
  await vi.waitFor(
    async () => expect(await ids("/v1/teams", 3)).toEqual(["a", "c", "b"]),
    PATIENCE,
  );
  expect(await ids("/v1/teams?order=oldest", 3)).toEqual(["b", "c", "a"]);
  expect(await ids("/v1/teams?q=team%20B", 1)).toEqual(["b"]);
  expect(await ids("/v1/teams?metadata.env=prod", 2)).toEqual(["a", "c"]);
  expect(await ids("/v1/teams?status=running", 0)).toEqual([]);
  const first = await ask("/v1/teams?limit=2");
  const { next_cursor } = first.body as { next_cursor: string };
  expect(await ids(`/v1/teams?limit=2&cursor=${next_cursor}`, 1)).toEqual(["b"]);
  expect((await ask("/v1/teams", { as: "other" })).body).toEqual({ teams: [], next_cursor: null });
});

test("a team is listed once it is created, and a run once it was waited for", async () => {
  for (const id of ["a", "b", "c"]) {
    await create(id);
    expect((await ask("/v1/teams?limit=1")).body).toMatchObject({ teams: [{ id }] });
    const ended = await run(id);
    expect((await ask("/v1/runs?limit=1")).body).toMatchObject({ runs: [{ id: ended }] });
  }
});

test("an invalid query of the directory is refused with the field's name", async () => {
  for (const [query, path] of [
    ["teams?cursor=x", "cursor"],
    ["teams?status=asleep", "status"],
    ["teams?metadata=x", "metadata"],
    ["runs?since=yesterday", "since"],
    ["requests?limit=0", "limit"],
    ["requests?team=a.b", "team"],
    ["usage?by=colour", "by"],
    ["usage?from=2026-02-01&to=2026-01-01", "from"],
    ["usage?from=2020-01-01&to=2026-01-01", "from"],
    ["usage?from=tomorrow", "from"],
  ]) {
    const { status, body } = await ask(`/v1/${query}`);
    expect({ query, status, errors: body.errors }).toMatchObject({
      query,
      status: 422,
      errors: [{ path }],
    });
  }
});

test("runs and their usage are listed, and a deleted team leaves its usage only", async () => {
  await create("a");
  const first = await run("a");
  const second = await run("a");
  await vi.waitFor(async () => {
    expect(await ids("/v1/runs?status=completed", 2)).toEqual([second, first]);
  }, PATIENCE);
  expect(await ids("/v1/runs?team=b", 0)).toEqual([]);
  const { body: report } = await ask("/v1/usage?by=day,team");
  expect(report).toMatchObject({
    usage: [{ team: "a", runs: 2, turns: 6 }],
    total: { runs: 2 },
  });
  expect((await ask("/v1/teams/a", { method: "DELETE" })).status).toBe(204);
  expect(await ids("/v1/runs", 0)).toEqual([]);
  expect(await ids("/v1/teams", 0)).toEqual([]);
  expect((await ask("/v1/usage")).body).toMatchObject({ total: report.total });
});

test("the inbox lists the questions of all teams until they are answered", async () => {
  await create("a", { component: HUMAN });
  await create("b", { component: HUMAN });
  for (const id of ["a", "b"]) {
    await ask(`/v1/teams/${id}/runs?wait=60`, { body: { task: "Which colour?" } });
  }
  const [question] = await ids("/v1/requests", 2);
  const { requests } = (await ask("/v1/requests?kind=input")).body as {
    requests: { id: string; team_id: string; run_id: string }[];
  };
  expect(requests.map(({ team_id }) => team_id)).toEqual(["a", "b"]);
  await ids("/v1/requests?team=b", 1);
  await ids("/v1/requests?team=c", 0);
  const { run_id } = requests[0] as { run_id: string };
  await ask(`/v1/teams/a/runs/${run_id}/requests/${question}`, { body: { content: "blue" } });
  await ids("/v1/requests", 1);
  await ids("/v1/runs?status=waiting", 1);
});

test("the inbox can begin with the questions that expire soonest", async () => {
  const seconds: Record<string, number | undefined> = { never: undefined, late: 9_000, soon: 600 };
  for (const [id, timeout_seconds] of Object.entries(seconds)) {
    const config = {
      ...HUMAN.config,
      ...(timeout_seconds && { timeout_seconds, default_answer: "red" }),
    };
    await create(id, { component: { provider: "UserProxyAgent", config } });
    await ask(`/v1/teams/${id}/runs?wait=60`, { body: { task: "Which colour?" } });
  }
  await ids("/v1/requests", 3);
  const teamsOf = async (query: string): Promise<string[]> => {
    const teams: string[] = [];
    let cursor = "";
    do {
      const { body } = await ask(`/v1/requests?limit=1&${query}${cursor}`);
      teams.push(...body.requests.map(({ team_id }) => team_id));
      cursor = body.next_cursor ? `&cursor=${body.next_cursor}` : "";
    } while (cursor);
    return teams;
  };
  expect(await teamsOf("order=expires_at")).toEqual(["soon", "late", "never"]);
  expect(await teamsOf("order=created_at")).toEqual(["never", "late", "soon"]);
  expect(await teamsOf("")).toEqual(["never", "late", "soon"]);
});

test("one Idempotency-Key creates one team, also for concurrent requests", async () => {
  const headers = { "idempotency-key": "k1" };
  const body = { component: SAMPLE_COMPONENT, label: "one" };
  const made = await Promise.all(
    Array.from({ length: 5 }, () => ask("/v1/teams", { body, headers })),
  );
  expect(new Set(made.map(({ body: team }) => team.id)).size).toBe(1);
  expect(made.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
  const other = await ask("/v1/teams", { body: { ...body, id: "x" }, headers });
  expect(other).toMatchObject({ status: 422, body: { code: "idempotency_mismatch" } });
  await ids("/v1/teams", 1);
});

test("a tenant at its limit of teams gets an error that names the limit", async () => {
  await ask(`/v1/tenants/${tenant}`, { body: { limits: { teams: 2 } }, method: "PUT" });
  const made = await Promise.all(
    Array.from({ length: 6 }, () => ask("/v1/teams", { body: { component: SAMPLE_COMPONENT } })),
  );
  expect(made.filter(({ status }) => status === 201)).toHaveLength(2);
  const refused = made.find(({ status }) => status === 429);
  expect(refused?.body).toMatchObject({ code: "too_many_teams", limit: "teams", value: 2 });
  expect(refused?.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(refused?.headers.get("ratelimit-policy")).toBe('"teams";q=2');
  expect(refused?.headers.get("x-should-retry")).toBe("false");
  expect(refused?.body).toMatchObject({ detail: expect.stringContaining("Delete teams") });
});

test("the stream of changes continues from its cursor", async () => {
  await create("a");
  await ids("/v1/teams", 1);
  const frames = async (after: string | undefined, until: (text: string) => boolean) => {
    const response = await worker.fetch("/v1/events", {
      headers: {
        authorization: `Bearer ${OPERATOR}`,
        "troupe-tenant": tenant,
        ...(after !== undefined && { "last-event-id": after }),
      },
    });
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    let text = "";
    while (!until(text)) {
      const { done, value } = await reader.read();
      if (done) throw new Error(`the stream ended after ${text}`);
      text += decoder.decode(value, { stream: true });
      if (text.includes("retry:") && started === undefined) started = run("a");
    }
    await reader.cancel();
    return text;
  };
  let started: Promise<string> | undefined;
  const live = await frames(undefined, (text) => /event: run\n.*\n.*"completed"/.test(text));
  const id = await started;
  expect(live).toContain(`"id":"${id}"`);
  const cursor = /id: (\d+)/.exec(live)?.[1];
  await create("b");
  await ids("/v1/teams", 2);
  const resumed = await frames(cursor, (text) => text.includes('"id":"b"'));
  expect(resumed).toContain("event: team\n");
  const later = await frames("0", (text) => text.includes('"id":"b"'));
  expect(later).toContain(`"id":"${id}"`);
});

test("a stream of changes that is resumed names the questions that were closed in between", async () => {
  await ask("/v1/teams", { body: { id: "h", component: HUMAN } });
  await ask("/v1/teams/h/runs?wait=60", { body: { task: "go" } });
  const [request] = await ids("/v1/requests", 1);
  const { body } = await ask("/v1/requests");
  const { run_id } = body.requests[0]!;
  const headers = { authorization: `Bearer ${OPERATOR}`, "troupe-tenant": tenant };
  const until = async (after: string, end: RegExp): Promise<string> => {
    const response = await worker.fetch(`/v1/events?after=${after}`, { headers });
    let text = "";
    for await (const part of (response.body as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream(),
    )) {
      text += part;
      if (end.test(text)) break;
    }
    return text;
  };
  const asked = await until("0", /event: request\n/);
  const cursor = /event: request\nid: (\d+)/.exec(asked)?.[1] ?? "";
  await ask(`/v1/teams/h/runs/${run_id}/requests/${request}`, { body: { content: "well" } });
  await ids("/v1/requests", 0);
  const resumed = await until(cursor, /event: request_closed\n/);
  expect(resumed).toContain(`data: {"id":"${request}","team_id":"h"}`);
  expect(await until("0", /event: request_closed\n/)).not.toMatch(/event: request\n/);
});

test("a deleted tenant is gone with its teams, keys and usage, and can be created again", async () => {
  for (let team = 0; team < 25; team++) await create(`t${team}`);
  await run("t0");
  const made = await ask("/v1/keys", { body: { name: "k" } });
  const { key } = made.body as { key: string };
  expect((await ask(`/v1/tenants/${tenant}`, { method: "DELETE" })).status).toBe(202);
  expect((await ask(`/v1/tenants/${tenant}`)).status).toBe(404);
  expect((await ask(`/v1/tenants/${tenant}`, { method: "DELETE" })).status).toBe(404);
  await vi.waitFor(async () => {
    const tenants = (await ask("/v1/tenants?limit=200")).body.tenants as { id: string }[];
    expect(tenants.map(({ id }) => id)).not.toContain(tenant);
  }, PATIENCE);
  for (const team of ["t0", "t24"]) expect((await ask(`/v1/teams/${team}`)).status).toBe(404);
  const refused = await worker.fetch("/v1/teams", { headers: { authorization: `Bearer ${key}` } });
  await refused.body?.cancel();
  expect(refused.status).toBe(401);
  expect((await ask("/v1/usage")).body).toMatchObject({ total: { runs: 0 } });
  await create("t0");
  expect(await ids("/v1/teams", 1)).toEqual(["t0"]);
});
