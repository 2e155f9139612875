import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import type { TaskOnBoard, TasksOfTeam } from "#contract/team/board.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { KillableWorker } from "../support/killable-worker.ts";

const tool = (name: string, args: Record<string, string>) => ({
  reply: { tool_calls: [{ name, arguments: args }] },
});

let openai: FakeOpenAI;
let worker: KillableWorker;
let count = 0;
let team: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [
      { name: "plan", match: { text: "Plan it." }, ...tool("add_task", { title: "Cook" }) },
      { name: "claim", match: { text: "Claim it." }, ...tool("claim_task", { id: "t1" }) },
      { name: "done", match: { text: "The task" }, reply: { content: "Done." } },
      { name: "other", match: {}, reply: { content: "Fine." } },
    ],
  });
  worker = await KillableWorker.start({
    SECRETS_KEY: btoa("k".repeat(32)),
    ALLOWED_EGRESS: openai.origin,
  });
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(async () => {
  team = `/v1/teams/board-${++count}`;
  expect(await create(true)).toBe(201);
  openai.log.requests.length = 0;
});

/** A person and an agent, who speak in turns. */
async function create(withBoard: boolean): Promise<number> {
  const agent = {
    provider: "AssistantAgent",
    config: {
      name: "cook",
      max_tool_iterations: 3,
      memory: withBoard ? [{ provider: "troupe.memory.TaskBoard", config: {} }] : [],
      model_client: {
        provider: "OpenAIChatCompletionClient",
        config: { model: "gpt-4o", api_key: "key", base_url: openai.url },
      },
    },
  };
  const person = { provider: "UserProxyAgent", config: { name: "user", description: "A person." } };
  const component = {
    provider: "RoundRobinGroupChat",
    config: { participants: [person, agent], max_turns: 2 },
  };
  const id = team.slice("/v1/teams/".length);
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component }));
  await created.body?.cancel();
  return created.status;
}

async function send<T>(method: string, path: string, body?: unknown, headers = {}): Promise<T> {
  const init = body === undefined ? { method, headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(`${team}${path}`, init);
  const text = await response.text();
  return { http: response.status, ...(text === "" ? {} : JSON.parse(text)) } as T;
}

interface Answer extends TaskOnBoard, TasksOfTeam {
  http: number;
  code: string;
  errors: { path: string; message: string }[];
}

const ask = (method: string, path: string, body?: unknown, headers = {}): Promise<Answer> =>
  send<Answer>(method, path, body, headers);

async function titles(): Promise<string[]> {
  return (await ask("GET", "/tasks")).tasks.map(({ title }) => title);
}

/** A run that waits for the person. */
async function waitingRun(): Promise<RunInfo> {
  const run = await send<RunInfo>("POST", "/runs?wait=60", { task: "Dinner." });
  expect(run.requests).toHaveLength(1);
  return run;
}

async function answer({ id, requests }: RunInfo, content: string): Promise<RunInfo> {
  const path = `/runs/${id}/requests/${requests[0]?.id}`;
  expect(await send("POST", path, { content })).toMatchObject({ http: 200 });
  const read = (): Promise<RunInfo> => send<RunInfo>("GET", `/runs/${id}`);
  await expect.poll(async () => (await read()).ended_at, { timeout: 20_000 }).not.toBeNull();
  return read();
}

/** The boards in the system messages of the model's requests. */
function seen(): string[] {
  return openai.log.requests.map(({ body }) => {
    const [system] = (body as { messages: { content: string }[] }).messages;
    return /<tasks-\w+>\n([^]*)\n<\/tasks-\w+>/.exec(system?.content ?? "")?.[1] ?? "";
  });
}

test("people add, change, move and delete tasks of an idle team", async () => {
  expect(await ask("GET", "/tasks")).toEqual({ http: 200, tasks: [] });
  const first = await ask("POST", "/tasks", { title: " Buy food ", note: "For four." });
  expect(first).toMatchObject({
    http: 201,
    id: "p1",
    title: "Buy food",
    note: "For four.",
    owner: null,
    state: "open",
    depends_on: [],
    position: 0,
  });
  expect(await ask("POST", "/tasks", { title: "Cook", depends_on: ["p1"] })).toMatchObject({
    http: 201,
    id: "p2",
    depends_on: ["p1"],
    position: 1,
  });
  expect(await ask("PATCH", "/tasks/p2", { position: 0, owner: "cook" })).toMatchObject({
    http: 200,
    position: 0,
    owner: "cook",
    state: "open",
  });
  expect(await ask("PATCH", "/tasks/p2", { state: "claimed" })).toMatchObject({ state: "claimed" });
  expect(await ask("PATCH", "/tasks/p2", { owner: null })).toMatchObject({
    state: "open",
    owner: null,
  });
  expect(await titles()).toEqual(["Cook", "Buy food"]);
  expect((await ask("DELETE", "/tasks/p1")).http).toBe(204);
  expect(await ask("GET", "/tasks")).toMatchObject({ tasks: [{ id: "p2", depends_on: [] }] });
});

test("a task that a person adds during a run is read before the next model call, also after kill -9", async () => {
  const run = await waitingRun();
  expect(await ask("POST", "/tasks", { title: "Set the table" })).toMatchObject({
    http: 201,
    id: "p1",
  });
  expect(await titles()).toEqual(["Set the table"]);
  await worker.kill();
  await worker.restart();
  expect(await titles()).toEqual(["Set the table"]);
  expect(await answer(run, "Plan it.")).toMatchObject({ status: "completed" });
  expect(seen()).toEqual(["p1 (open) Set the table", "p1 (open) Set the table\nt1 (open) Cook"]);
  expect(await titles()).toEqual(["Set the table", "Cook"]);
  await worker.kill();
  await worker.restart();
  expect(await titles()).toEqual(["Set the table", "Cook"]);
});

test("the agents claim a task that a person has added, and a fork and a saved state have the board", async () => {
  await answer(await waitingRun(), "Plan it.");
  await answer(await waitingRun(), "Claim it.");
  const [task] = (await ask("GET", "/tasks")).tasks;
  expect(task).toMatchObject({ id: "t1", owner: "cook", state: "claimed" });
  const source = team;
  const state = await send<Record<string, unknown>>("GET", "/state");
  expect(JSON.stringify(state)).toContain('"title":"Cook"');
  const id = `board-fork-${count}`;
  expect(await send("POST", "/fork", { id })).toMatchObject({ http: 201 });
  team = `/v1/teams/${id}`;
  expect(await ask("GET", "/tasks")).toMatchObject({ tasks: [{ id: "t1", owner: "cook" }] });
  await ask("DELETE", "/tasks/t1");
  team = source;
  expect(await titles()).toEqual(["Cook"]);
});

test("AG-UI shows the board in the state, as troupe.tasks", async () => {
  await ask("POST", "/tasks", { title: "Set the table" });
  const run = await waitingRun();
  await answer(run, "Plan it.");
  const response = await worker.fetch(
    team.replace("/v1", "/ag-ui"),
    jsonInit({
      threadId: "thread",
      runId: "run",
      state: {},
      messages: [],
      tools: [],
      context: [],
      forwardedProps: {},
    }),
  );
  const events = (await response.text()).matchAll(/^data: (.+)$/gm);
  const snapshot = [...events]
    .map(([, text]) => JSON.parse(text ?? ""))
    .find(({ type }) => type === "STATE_SNAPSHOT");
  expect(snapshot.snapshot.troupe.tasks).toMatchObject([
    { id: "p1", title: "Set the table" },
    { id: "t1", title: "Cook" },
  ]);
});

test("a request that is repeated with its Idempotency-Key adds one task", async () => {
  const key = { "idempotency-key": "once" };
  const first = await ask("POST", "/tasks", { title: "Cook" }, key);
  expect(await ask("POST", "/tasks", { title: "Cook" }, key)).toEqual(first);
  expect(await ask("POST", "/tasks", { title: "Bake" }, key)).toMatchObject({
    http: 422,
    code: "idempotency_mismatch",
  });
  expect(await titles()).toEqual(["Cook"]);
});

test.each([
  ["POST", "/tasks", {}, 422, "title"],
  ["POST", "/tasks", { title: "" }, 422, "title"],
  ["POST", "/tasks", { title: "x".repeat(201) }, 422, "title"],
  ["POST", "/tasks", { title: "New", owner: "cook" }, 422, "owner"],
  ["POST", "/tasks", { title: "New", depends_on: ["p9"] }, 422, "depends_on[0]"],
  ["PATCH", "/tasks/p1", {}, 422, "body"],
  ["PATCH", "/tasks/p1", { state: "claimed" }, 422, "owner"],
  ["PATCH", "/tasks/p1", { state: "finished" }, 422, "state"],
  ["PATCH", "/tasks/p1", { position: -1 }, 422, "position"],
  ["PATCH", "/tasks/p1", { depends_on: ["p2"] }, 422, "depends_on[0]"],
] as const)(
  "%s %s refuses a wrong body and names its field: %#",
  async (method, path, body, status, field) => {
    await ask("POST", "/tasks", { title: "First" });
    await ask("POST", "/tasks", { title: "Second", depends_on: ["p1"] });
    const before = await ask("GET", "/tasks");
    const refused = await ask(method, path, body);
    expect(refused.http).toBe(status);
    expect(refused.errors.map((error) => error.path)).toEqual([field]);
    expect(await ask("GET", "/tasks")).toEqual(before);
  },
);

test("an unknown task is 404, and a team without a board has no tasks and takes none", async () => {
  expect(await ask("PATCH", "/tasks/p9", { title: "New" })).toMatchObject({
    http: 404,
    code: "task_not_found",
  });
  expect(await ask("DELETE", "/tasks/p9")).toMatchObject({ http: 404, code: "task_not_found" });
  team = `/v1/teams/no-board-${count}`;
  await create(false);
  expect(await ask("GET", "/tasks")).toEqual({ http: 200, tasks: [] });
  expect(await ask("POST", "/tasks", { title: "New" })).toMatchObject({
    http: 409,
    code: "no_task_board",
  });
});

test("a task that a cancelled run has not read is in a fork and a saved state that are made before the next run", async () => {
  const run = await waitingRun();
  await ask("POST", "/tasks", { title: "Set the table" });
  await send("POST", `/runs/${run.id}/stop`, { mode: "now" });
  await worker.kill();
  await worker.restart();
  expect(JSON.stringify(await send("GET", "/state"))).toContain('"title":"Set the table"');
  const source = team;
  for (const [from, id] of [
    [source, `board-unread-${count}`],
    [`/v1/teams/board-unread-${count}`, `board-unread-again-${count}`],
  ] as const) {
    team = from;
    expect(await send("POST", "/fork", { id })).toMatchObject({ http: 201 });
    team = `/v1/teams/${id}`;
    expect(await titles()).toEqual(["Set the table"]);
  }
  for (const one of [team, source]) {
    team = one;
    openai.log.requests.length = 0;
    await answer(await waitingRun(), "Go on.");
    expect(seen()).toEqual(["p1 (open) Set the table"]);
    expect(await titles()).toEqual(["Set the table"]);
  }
});
