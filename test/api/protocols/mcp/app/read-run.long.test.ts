import { afterAll, beforeAll, expect, test } from "vitest";
import { buildRunView } from "../../../../../scripts/build/run-view.mjs";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { SAMPLE_COMPONENT } from "../../../../support/sample-component.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed, teamToken } from "../../support/access.ts";
import { HUMAN, inTurn, newTeam, writer } from "../../support/teams.ts";
import { initialize, lastOf, post, request } from "../support/messages.ts";
import { ask } from "../support/tasks.ts";

const PAGES = {
  extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
};
const VIEW = "ui://troupe/run.html";
const MANY = 20_000;

interface ListedTool {
  name: string;
  _meta?: { ui?: { resourceUri?: string; visibility?: string[] } };
}

interface Frame {
  event?: string;
  data: { type?: string; status?: string; content?: unknown; requests?: { id: string }[] };
}

interface Read {
  team_id: string;
  run_id: string;
  frames: Frame[];
  cursor: number;
  seen: string;
  more: boolean;
  may_answer: boolean;
  may_stop: boolean;
}

let worker: TestWorker;
let models: FakeOpenAI;

beforeAll(async () => {
  await buildRunView();
  models = await startFakeOpenAI({
    rules: [{ name: "turn", hold: true, reply: { content: "At last." } }],
  });
  const settings = {
    OPENAI_BASE_URL: models.url,
    OPENAI_API_KEY: "test",
    ALLOWED_EGRESS: models.origin,
    MCP_TEMPLATES: "none",
  };
  worker = await TestWorker.start(await deployed(settings), { console: true });
  const own = { headers: bearer("acme") };
  await newTeam(worker, { id: "desk", component: SAMPLE_COMPONENT }, own.headers);
  await newTeam(worker, { id: "asks", component: inTurn(HUMAN) }, own.headers);
  await newTeam(worker, { id: "slow", component: inTurn(writer()) }, own.headers);
});

afterAll(async () => {
  await worker?.[Symbol.asyncDispose]();
  await models?.[Symbol.asyncDispose]();
});

/** The list of tools of a client of each generation. */
async function tools(capabilities: object, key = "acme", path = "/mcp"): Promise<ListedTool[][]> {
  const headers = bearer(key);
  const modern = await ask(worker, "tools/list", {}, { headers, capabilities, path });
  const session = await initialize(worker, capabilities, { headers, path });
  const sent = { headers: { ...headers, "mcp-session-id": session }, path };
  const { result } = await lastOf(await post(worker, request(1, "tools/list"), sent));
  return [modern.result, result].map((list) => (list as unknown as { tools: ListedTool[] }).tools);
}

async function call(name: string, given: object, key = "acme"): Promise<Record<string, unknown>> {
  const sent = { headers: bearer(key), capabilities: PAGES };
  const { result } = await ask(worker, "tools/call", { name, arguments: given }, sent);
  return result as unknown as Record<string, unknown>;
}

async function read(given: object, key = "acme"): Promise<Read> {
  return (await call("read_run", given, key))["structuredContent"] as Read;
}

test("a client that shows pages gets that of a run with each tool that is about one, and the tool of the page", async () => {
  for (const path of ["/mcp", "/mcp/teams/desk"]) {
    for (const list of await tools(PAGES, "acme", path)) {
      const shown = list.filter(({ _meta }) => _meta?.ui?.resourceUri === VIEW);
      const names = path === "/mcp" ? ["run_asks", "run_desk", "run_slow"] : ["run_desk"];
      expect(shown.map(({ name }) => name).toSorted()).toEqual(["get_run", ...names]);
      const own = list.find(({ name }) => name === "read_run");
      expect(own?._meta).toEqual({ ui: { visibility: ["app"] } });
    }
  }
});

test("other clients, and those that read another type of pages, get the tools without a page", async () => {
  const [expected = []] = await tools({});
  const html = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html"] } } };
  for (const capabilities of [{}, html]) {
    for (const list of await tools(capabilities)) {
      expect(list).toEqual(expected);
      expect(JSON.stringify(list)).not.toMatch(/read_run|ui:\/\//);
    }
  }
});

test("a caller who may not read runs gets no page", async () => {
  const token = await teamToken(worker, "desk", ["teams:read", "runs:write"]);
  for (const list of await tools(PAGES, token, "/mcp/teams/desk")) {
    expect(list.map(({ name }) => name)).toContain("run_desk");
    expect(JSON.stringify(list)).not.toMatch(/read_run|ui:\/\//);
  }
});

test("the page is a resource without an origin", async () => {
  const sent = { headers: bearer("acme"), capabilities: PAGES };
  const listed = await ask(worker, "resources/list", {}, sent);
  const { resources } = listed.result as unknown as { resources: object[] };
  const csp = { connectDomains: [], resourceDomains: [] };
  const _meta = { ui: { csp, permissions: { clipboardWrite: {} }, prefersBorder: true } };
  const mimeType = "text/html;profile=mcp-app";
  expect(resources[0]).toMatchObject({ uri: VIEW, mimeType, _meta });
  const plain = await ask(worker, "resources/list", {}, { ...sent, capabilities: {} });
  expect(JSON.stringify(plain)).not.toContain(VIEW);
  const named = { ...sent, headers: { ...sent.headers, "mcp-name": VIEW } };
  const found = await ask(worker, "resources/read", { uri: VIEW }, named);
  const { contents } = found.result as unknown as { contents: { text: string }[] };
  expect(contents).toMatchObject([{ uri: VIEW, mimeType, _meta }]);
  expect(contents[0]?.text).toContain("<title>A run of Troupe</title>");
});

test("a run is read from a cursor, and its end is waited for", async () => {
  models.rules.hold("turn");
  const started = call("run_slow", { task: "Write slowly.", wait_seconds: 20 });
  const searched = { team_id: "slow", call: { tool: "run_slow", task: "Write slowly." } };
  await expect.poll(() => read(searched)).toMatchObject({ run_id: expect.any(String) });
  const { team_id, run_id } = await read(searched);
  expect(await read({ ...searched, call: { tool: "run_slow", task: "Another." } })).toEqual({
    team_id: null,
    run_id: null,
  });
  expect(await read({ call: searched.call })).toMatchObject({ team_id, run_id });

  // Another caller may have given the same task.
  const made = await worker.fetch(
    "/v1/keys",
    jsonInit({ name: "other", scopes: ["runs:read"] }, "POST", bearer("acme")),
  );
  const { key } = (await made.json()) as { key: string };
  expect(await read(searched, key)).toEqual({ team_id: null, run_id: null });

  const place = { team_id, run_id };
  await models.held("turn");
  const first = await read(place);
  expect(first).toMatchObject({ ...place, more: false, may_answer: true, may_stop: true });
  expect(first.frames[0]).toMatchObject({ event: "run", data: { status: "running" } });
  const { cursor: after, seen } = first;
  const waiting = read({ ...place, after, seen, wait_seconds: 30 });
  models.release("turn");
  const [next] = await Promise.all([waiting, started]);
  expect(next.cursor).toBeGreaterThan(after);
  let last = next;
  for (let count = 0; count < 5 && !isOver(last); count++)
    last = await read({ ...place, after, wait_seconds: 5 });
  expect(JSON.stringify(last.frames)).toContain("At last.");
  const over = await read({ ...place, after: last.cursor, wait_seconds: 30 });
  expect(over.frames).toMatchObject([{ event: "run", data: { status: "completed" } }]);
});

function isOver({ frames }: Read): boolean {
  return frames.some(({ event, data }) => event === "run" && data.status === "completed");
}

test("a question is read without what the page has, and its answer changes the run for whoever waits", async () => {
  const called = await call("run_asks", { task: "Ask.", wait_seconds: 10 });
  const { run_id } = called["structuredContent"] as { run_id: string };
  const place = { team_id: "asks", run_id };
  const open = await read(place);
  const run = open.frames.findLast(({ event }) => event === "run");
  const id = run?.data.requests?.[0]?.id;
  expect(run?.data).toMatchObject({ status: "waiting", requests: [{ prompt: "Which city?" }] });
  const { cursor: after, seen } = open;
  const waiting = read({ ...place, after, seen, wait_seconds: 30 });
  await call("answer_request", { ...place, request_id: id, content: "Rome", wait_seconds: 0 });
  const answered = await waiting;
  expect(JSON.stringify(answered.frames)).toContain("Rome");
});

test("a caller that may only read sees that it may not answer", async () => {
  const called = await call("run_desk", { task: "Hello.", wait_seconds: 10 });
  const { run_id } = called["structuredContent"] as { run_id: string };
  const part = await read({ team_id: "desk", run_id }, "runs:read");
  expect(part).toMatchObject({ may_answer: false, may_stop: false });
});

test("mistakes name the argument, and what does not exist is not found", async () => {
  const nowhere = await call("read_run", { team_id: "desk", run_id: "none" });
  expect(nowhere).toMatchObject({ isError: true });
  expect(JSON.stringify(nowhere)).toContain("run_not_found");
  const missing = await call("read_run", {});
  expect(JSON.stringify(missing)).toContain(
    "team_id: is missing: give team_id and run_id, or call",
  );
  const long = await call("read_run", { team_id: "desk", run_id: "none", wait_seconds: 61 });
  expect(JSON.stringify(long)).toContain("wait_seconds");
});

test("the list of 50 teams stays small for clients that show pages", async () => {
  for (let count = 0; count < 50; count++) {
    const id = `team-${count}`;
    await newTeam(worker, { id, component: SAMPLE_COMPONENT }, bearer("globex"));
  }
  for (const list of await tools(PAGES, "globex")) {
    expect(list.map(({ name }) => name)).toContain("run_team");
    expect(new TextEncoder().encode(JSON.stringify(list)).length).toBeLessThan(MANY);
  }
});
