import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Scope, SCOPES } from "#contract/constants.ts";
import { sha256Hex } from "#core/hash.ts";
import { LoginServer } from "../../components/mcp/support/login-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import {
  ASKING_COMPONENT,
  BOARD_COMPONENT,
  SAMPLE_COMPONENT,
} from "../../support/sample-component.ts";
import { TestWorker } from "../../support/worker.ts";
import { ACCESS, type Access, TRIGGER } from "./matrix-access.ts";

const SANDBOX = "https://sandbox.example.com";
const KEY = "all-scopes-secret";
/** What users may do when `authenticate` says nothing of it. */
const DEFAULT: readonly Scope[] = ["teams:read", "runs:read", "runs:write", "requests:write"];
/** What belongs to the whole tenant, and is refused to callers who have only their own teams. */
const OF_TENANT = /^\w+ \/v1\/(keys|webhooks|memories\/users)\b/;

interface Caller {
  user?: string;
  name?: string;
  scopes?: readonly Scope[];
  teams?: "own" | "all";
}

const ann: Caller = { user: "ann" };
const bob: Caller = { user: "bob" };
const all = (caller: Caller): Caller => ({ ...caller, scopes: SCOPES });

let worker: TestWorker;
let logins: LoginServer;
let count = 0;

beforeAll(async () => {
  logins = await LoginServer.start();
  const servers = [new URL(logins.mcp.url).origin, logins.issuer];
  worker = await TestWorker.start(
    {
      TROUPE_OPEN: "",
      SECRETS_KEY: btoa("k".repeat(32)),
      API_KEYS: JSON.stringify([{ hash: await sha256Hex(KEY), tenant: "acme", scopes: SCOPES }]),
      TENANT_REQUESTS_PER_SECOND: "100000",
      TENANT_RUNS_PER_MINUTE: "100000",
      SANDBOX_URL: SANDBOX,
      PUBLIC_URL: "https://troupe.example.com",
      ALLOWED_EGRESS: ["https://mcp.example.com", ...servers].join(","),
      WEBHOOK_HOSTS: "hooks.example.com,hooks.slack.com",
      JWT_ISSUER: "https://id.example.com",
      JWT_AUDIENCE: "https://troupe.example.com",
      JWT_JWKS_URL: "https://id.example.com/jwks",
    },
    {
      entry: "test/e2e/worker/users.ts",
      quietAbout: "authenticate returned the user",
      outgoing: async (request) => {
        const { url, method, headers } = request;
        if (servers.includes(new URL(url).origin)) {
          const body = method === "GET" ? null : await request.text();
          return fetch(url, { method, headers: [...headers], body });
        }
        return url.startsWith(`${SANDBOX}/`)
          ? Response.json({ files: [] })
          : new Response(null, { status: 404 });
      },
    },
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await logins[Symbol.asyncDispose]();
});

interface Ask {
  method?: string;
  body?: unknown;
  headers?: Record<string, string> | undefined;
}

/** @param caller who asks; null for the key of the whole tenant */
function ask(caller: Caller | null, path: string, given: Ask = {}): Promise<Response> {
  const { body, method = body === undefined ? "GET" : "POST" } = given;
  const headers = {
    ...given.headers,
    ...(caller === null
      ? { authorization: `Bearer ${KEY}` }
      : { "x-caller": JSON.stringify(caller) }),
  };
  return worker.fetch(
    path,
    body === undefined ? { method, headers } : jsonInit(body, method, headers),
  );
}

async function statusOf(...request: Parameters<typeof ask>): Promise<number> {
  const response = await ask(...request);
  await response.body?.cancel();
  return response.status;
}

async function read<T>(...request: Parameters<typeof ask>): Promise<T> {
  const response = await ask(...request);
  const text = await response.text();
  expect(response.status, `${request[1]}: ${text}`).toBeLessThan(300);
  return JSON.parse(text) as T;
}

interface Made {
  id: string;
  user: string | null;
}

/** Makes a team of a user, with a finished run and a schedule. */
async function newTeam(user?: string, component: unknown = SAMPLE_COMPONENT) {
  const body = { component, ...(user !== undefined && { user }) };
  const { id: team } = await read<Made>(null, "/v1/teams", { body });
  const task = `Hello of ${user ?? "nobody"}.`;
  const { id: run } = await read<Made>(null, `/v1/teams/${team}/runs?wait=60`, { body: { task } });
  const at = { cron: "0 8 * * *", task: "Hello.", on_conflict: "interrupt" };
  const { id: schedule } = await read<Made>(null, `/v1/teams/${team}/schedules`, { body: at });
  return { team, run, schedule };
}

async function newCollection(): Promise<string> {
  const collection = `handbook-${++count}`;
  const body = { mime_type: "text/plain", content: "Hello." };
  await read(null, `/v1/collections/${collection}/documents/guide`, { method: "PUT", body });
  return collection;
}

async function newTask(team: string): Promise<string> {
  return (await read<Made>(null, `/v1/teams/${team}/tasks`, { body: { title: "Buy food" } })).id;
}

async function newTrigger(team: string): Promise<string> {
  const trigger = `trigger-${++count}`;
  await read(null, `/v1/teams/${team}/triggers/${trigger}`, { method: "PUT", body: TRIGGER });
  return trigger;
}

async function newSkill(): Promise<string> {
  const skill = `skill-${++count}`;
  const files = { "SKILL.md": `---\nname: ${skill}\ndescription: Of the matrix.\n---\n` };
  await read(null, `/v1/skills/${skill}`, { method: "PUT", body: { files } });
  return skill;
}

describe("own teams and those of others", () => {
  function permitted({ needs }: Access, scopes: readonly Scope[]): boolean {
    if (needs === "operator") return false;
    if (typeof needs === "string") return true;
    // Without a row's single scope, only all of them together are enough.
    if (needs.length === 0) return scopes === SCOPES;
    return needs.some((scope) => scopes.includes(scope));
  }

  test.for(Object.entries(ACCESS))("%s", async ([operation, access]) => {
    const [method = "", path = ""] = operation.split(" ");
    const { query = "", body, headers, status } = access;
    const isOfTeam = path.includes("{team}");
    const send = async (caller: Caller, owner: string): Promise<number> => {
      const ids: Record<string, string> = {
        ...(isOfTeam &&
          (await newTeam(owner, path.includes("/tasks") ? BOARD_COMPONENT : SAMPLE_COMPONENT))),
        ...(path.includes("{token}") && { token: "none" }),
        ...(path.includes("{collection}") && {
          collection: await newCollection(),
          document: "guide",
        }),
      };
      const { team = "" } = ids;
      if (path.includes("{task}")) ids["task"] = await newTask(team);
      if (path.includes("{trigger}")) ids["trigger"] = await newTrigger(team);
      if (path.includes("{skill}")) ids["skill"] = await newSkill();
      const filled = (path + query).replaceAll(
        /\{(\w+)\}/g,
        (_, name: string) => ids[name] ?? "none",
      );
      return statusOf(caller, filled, { method, body, headers });
    };
    const allowed = OF_TENANT.test(operation) ? 403 : status;
    const inOwn = (scopes: readonly Scope[]): number => (permitted(access, scopes) ? allowed : 403);
    // Who may not do it at all learns nothing of the team.
    const inOther = (scopes: readonly Scope[]): number =>
      isOfTeam && permitted(access, scopes) ? (access.elsewhere ?? 404) : inOwn(scopes);
    expect({
      own: await send(ann, "ann"),
      "own, with all scopes": await send(all(ann), "ann"),
      another: await send(ann, "bob"),
      "another, with all scopes": await send(all(ann), "bob"),
    }).toEqual({
      own: inOwn([...DEFAULT, "conversation:read", "files:read"]),
      "own, with all scopes": inOwn(SCOPES),
      another: inOther([...DEFAULT, "conversation:read", "files:read"]),
      "another, with all scopes": inOther(SCOPES),
    });
  });
});

describe("the view of a user with own teams", () => {
  /** The ids of teams that an answer mentions. */
  async function seenBy(caller: Caller | null, path: string, teams: Record<string, string>) {
    const text = await (await ask(caller, path)).text();
    return Object.keys(teams).filter((name) => text.includes(teams[name] ?? ""));
  }

  test("lists, totals, search, inbox, usage, models and tools have the user's own teams only", async () => {
    // Has no teams of other tests, so that those of this one are on the first pages.
    const fay: Caller = { user: "fay" };
    const [hers, his, tenants] = [
      await newTeam("fay"),
      await newTeam("gus"),
      await newTeam(undefined),
    ];
    const asking: string[] = [];
    for (const user of ["fay", "gus"]) {
      const body = { component: ASKING_COMPONENT, user };
      const { id } = await read<Made>(null, "/v1/teams", { body });
      await read(null, `/v1/teams/${id}/runs?wait=60`, { body: { task: "Ask." } });
      asking.push(id);
    }
    const teams = { hers: hers.team, his: his.team, tenants: tenants.team };
    const questions = { hers: asking[0] ?? "", his: asking[1] ?? "" };
    const today = new Date().toISOString().slice(0, 10);
    const usage = `/v1/usage?from=${today}&by=team`;
    const caller = all(fay);
    const paths: [path: string, among: Record<string, string>][] = [
      ["/v1/teams?limit=200", teams],
      ["/v1/teams?limit=200&status=waiting", questions],
      ["/v1/runs?limit=200", teams],
      ["/v1/runs?limit=200&order=cost", teams],
      ["/v1/runs?limit=200&status=waiting", questions],
      ["/v1/messages/search?q=hello", teams],
      ["/v1/requests?limit=200", questions],
      ["/openai/v1/models", teams],
      [usage, teams],
    ];
    for (const [path, among] of paths) {
      expect(await seenBy(caller, path, among), path).toEqual(["hers"]);
      expect(await seenBy(null, path, among), path).toEqual(Object.keys(among));
      expect(await seenBy({ ...caller, teams: "all" }, path, among), path).toEqual(
        Object.keys(among),
      );
    }
    const totals = async (who: Caller | null) =>
      (await read<{ totals: { runs: number } }>(who, "/v1/runs")).totals.runs;
    expect(await totals(fay)).toBeLessThan(await totals(null));
    const body = { jsonrpc: "2.0", id: 1 };
    const headers = { accept: "application/json, text/event-stream" };
    const called = { ...body, method: "tools/call", params: { name: "list_teams", arguments: {} } };
    const tools = await (await ask(fay, "/mcp", { body: called, headers })).text();
    expect(tools).toContain(hers.team);
    expect(tools).not.toContain(his.team);
    expect(tools).not.toContain(tenants.team);
    for (const [path, given] of [
      [`/openai/v1/models/team:${his.team}`, {}],
      ["/openai/v1/chat/completions", { body: chat(`team:${his.team}`) }],
      [`/v1/memories?scope=team&team=${his.team}`, {}],
    ] as const) {
      expect(await statusOf(caller, path, given), path).toBe(404);
    }
    // Only what the user's own memories have of it, which is nothing.
    const path = `/v1/memories?run=${his.run}`;
    expect(await read(caller, path, { method: "DELETE" })).toEqual({ forgotten: 0 });
    // The list of the tenant keeps a team that a stranger has tried to delete.
    expect(await statusOf(caller, `/v1/teams/${his.team}`, { method: "DELETE" })).toBe(404);
    expect(await seenBy(null, "/v1/teams?limit=200", teams)).toEqual(Object.keys(teams));
  });

  test("connections are the user's own, because those of others name what requested them", async () => {
    const begin = (caller: Caller | null, user?: string) =>
      read<{ id: string }>(caller, "/v1/connections", {
        body: { server: logins.mcp.url, ...(user !== undefined && { user }) },
      });
    const tenants = await begin(null);
    const bobs = await begin(null, "bob");
    const hers = await begin(all(ann));
    const seen = async (caller: Caller | null): Promise<string[]> => {
      const page = await read<{ connections: { id: string }[] }>(caller, "/v1/connections");
      return page.connections.map(({ id }) => id);
    };
    expect(await seen(ann)).toEqual([hers.id]);
    expect(await seen({ ...ann, teams: "all" })).toEqual([tenants.id, hers.id]);
    expect(await seen(null)).toEqual([tenants.id, hers.id, bobs.id]);
    const forget = (caller: Caller | null, id: string) =>
      statusOf(caller, `/v1/connections/${id}`, { method: "DELETE" });
    for (const { id } of [tenants, bobs]) expect(await forget(all(ann), id)).toBe(404);
    for (const { id } of [hers, tenants, bobs]) expect(await forget(null, id)).toBe(204);
  });

  test("pages of one user's lists have every item once", async () => {
    const made: string[] = [];
    for (let round = 0; round < 5; round++) {
      made.push((await newTeam("cyd")).team);
      await newTeam("dan");
    }
    for (const [path, key] of [
      ["/v1/teams", "id"],
      ["/v1/teams?order=oldest", "id"],
      ["/v1/runs", "team_id"],
    ] as const) {
      const found: string[] = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const query = `limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`;
        const page: Record<string, unknown> & { next_cursor: string | null } = await read(
          { user: "cyd" },
          `${path}${path.includes("?") ? "&" : "?"}${query}`,
        );
        const items = (page["teams"] ?? page["runs"]) as Record<string, string>[];
        expect(items.length).toBeLessThanOrEqual(2);
        found.push(...items.map((item) => item[key] ?? ""));
        cursor = page.next_cursor;
      }
      expect(found.toSorted(), path).toEqual(made.toSorted());
    }
  });

  test("the feed has changes of the user's teams only, also when it is resumed", async () => {
    const before = await newTeam("eve");
    const other = await newTeam("bob");
    await read(null, `/v1/teams/${before.team}/runs?wait=60`, { body: { task: "More." } });
    const response = await ask({ user: "eve" }, "/v1/events?after=0");
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    const until = async (part: string): Promise<void> => {
      while (!text.includes(part)) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) throw new Error(`the feed ended after ${text}`);
        text += value ?? "";
      }
    };
    await until(before.run);
    const later = await newTeam("eve");
    const foreign = await newTeam("bob");
    await read(null, `/v1/teams/${later.team}/runs?wait=60`, { body: { task: "Later." } });
    await statusOf(null, `/v1/teams/${foreign.team}`, { method: "DELETE" });
    await statusOf(null, `/v1/teams/${later.team}`, { method: "DELETE" });
    await until("event: team_deleted");
    await reader?.cancel();
    for (const { team } of [other, foreign]) expect(text).not.toContain(team);
    expect(text).toContain(`"id":"${later.team}"`);
    // After the deletion only the tables know whose teams they were.
    const again = await ask({ user: "bob" }, "/v1/events?after=0");
    const second = again.body?.pipeThrough(new TextDecoderStream()).getReader();
    let replayed = "";
    while (!replayed.includes(foreign.team)) replayed += (await second?.read())?.value ?? "";
    await second?.cancel();
    expect(replayed).not.toContain(later.team);
  });
});

function chat(model: string): object {
  return { model, messages: [{ role: "user", content: "Hello." }] };
}

describe("the owner of a team", () => {
  test("a key names any user, a user names only himself, and a fork keeps its owner", async () => {
    const component = SAMPLE_COMPONENT;
    const team = await read<Made>(null, "/v1/teams", { body: { component, user: "ann" } });
    expect(team.user).toBe("ann");
    expect(await read(ann, `/v1/teams/${team.id}`)).toMatchObject({ user: "ann" });
    const fork = await read<Made>(null, `/v1/teams/${team.id}/fork`, { method: "POST" });
    expect(await read(ann, `/v1/teams/${fork.id}`)).toMatchObject({ user: "ann" });
    const own = await read<Made>(all(ann), "/v1/teams", { body: { component } });
    expect(own.user).toBe("ann");
    const named = { body: { component, user: "bob" } };
    expect(await statusOf(all(ann), "/v1/teams", named)).toBe(403);
    expect((await read<Made>(null, "/v1/teams", { body: { component } })).user).toBeNull();
  });

  test("the same idempotency key of two users makes two teams", async () => {
    const request = { body: { component: SAMPLE_COMPONENT }, headers: { "idempotency-key": "k" } };
    const one = await read<Made>(all(ann), "/v1/teams", request);
    const other = await read<Made>(all(bob), "/v1/teams", request);
    expect(other).toMatchObject({ user: "bob" });
    expect(other.id).not.toBe(one.id);
    expect(await read<Made>(all(ann), "/v1/teams", request)).toMatchObject({ id: one.id });
  });

  test("runs:write is enough for a conversation with a template, which only its user sees", async () => {
    const headers = { "x-troupe-chat": "first" };
    const request = { body: chat("template:greeter"), headers };
    expect(await read(ann, "/openai/v1/chat/completions", request)).toMatchObject({
      choices: [{ message: { content: expect.stringContaining("Good morning.") } }],
    });
    const { teams } = await read<{ teams: Made[] }>(ann, "/v1/teams?q=greeter");
    expect(teams).toMatchObject([{ user: "ann" }]);
    expect(await statusOf(bob, `/v1/teams/${teams[0]?.id}`)).toBe(404);
    const reader: Caller = { ...ann, scopes: ["teams:read"] };
    expect(await statusOf(reader, "/openai/v1/chat/completions", request)).toBe(403);
    const whole: Caller = { ...ann, teams: "all", scopes: ["runs:write"] };
    expect(await statusOf(whole, "/openai/v1/chat/completions", request)).toBe(403);
  });

  test("a conversation over A2A belongs to the caller", async () => {
    const { team } = await newTeam("ann");
    const message = { messageId: "1", role: "ROLE_USER", parts: [{ text: "Hello." }] };
    const headers = { "a2a-version": "1.0" };
    const { task } = await read<{ task: { contextId: string } }>(
      ann,
      `/a2a/teams/${team}/message:send`,
      { body: { message }, headers },
    );
    expect(await read(ann, `/v1/teams/${task.contextId}`)).toMatchObject({ user: "ann" });
    expect(await statusOf(bob, `/v1/teams/${task.contextId}`)).toBe(404);
  });
});

describe("the result of `authenticate`", () => {
  test.for<[name: string, caller: Caller, scopes: readonly Scope[], theirs: number]>([
    ["a user", { user: "ann" }, DEFAULT, 404],
    ["a user with a name", { user: "ann", name: "Ann" }, DEFAULT, 404],
    ["a user with scopes", { user: "ann", scopes: ["teams:read"] }, ["teams:read"], 404],
    ["a user with all teams", { user: "ann", teams: "all" }, DEFAULT, 200],
    ["the old rights of a user", { user: "ann", teams: "all", scopes: SCOPES }, SCOPES, 200],
    ["a name", { name: "ann" }, SCOPES, 200],
    ["an unnamed user", {}, SCOPES, 200],
    ["an empty name", { name: "" }, SCOPES, 200],
  ])("%s", async ([, caller, scopes, theirs]) => {
    const { team } = await newTeam("bob");
    expect(await read(caller, "/v1/whoami")).toMatchObject({
      scopes,
      user: caller.user ?? (caller.name || null),
    });
    expect(await statusOf(caller, `/v1/teams/${team}`)).toBe(theirs);
  });

  test.for(["", "(undefined)", "line\nbreak", "x".repeat(201)])(
    "a user %j is a mistake of the site, and never gets the rights of the tenant",
    async (user) => {
      expect(await statusOf({ user }, "/v1/whoami")).toBe(500);
    },
  );

  test("a user with own teams neither reads nor writes the tenant's memories", async () => {
    const body = { scope: "tenant", content: "The password is 1234." };
    expect(await statusOf(all(ann), "/v1/memories", { body })).toBe(403);
    expect(await statusOf(all(ann), "/v1/memories?scope=tenant")).toBe(403);
    expect(await statusOf({ ...all(ann), teams: "all" }, "/v1/memories", { body })).toBe(201);
  });
});
