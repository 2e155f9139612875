import { TaskState } from "@a2a-js/sdk";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { SCOPES } from "#contract/constants.ts";
import type { TeamInfo } from "#contract/team.ts";
import { sha256Hex } from "#core/hash.ts";
import { a2aSettings } from "#api/protocols/a2a/card/settings.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { jsonInit } from "../../../../support/http-app.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { bearer, deployed, teamToken } from "../../support/access.ts";
import { conversationsOf, HUMAN, inTurn, newTeam, runsOf, writer } from "../../support/teams.ts";
import { answerText, clientOf, message, send, stateOf } from "../support/client.ts";
import { post, request, sent } from "../support/rpc.ts";

const MODELS = "https://models.example.com/v1";
const OPERATOR = "the-operator";
const OWN = bearer("acme");

let openai: FakeOpenAI;
let worker: TestWorker;
let count = 0;
let id: string;

beforeAll(async () => {
  openai = await startFakeOpenAI({
    rules: [{ name: "write", reply: { content: "Four little words here." } }],
  });
  worker = await TestWorker.start(
    await deployed({
      OPENAI_BASE_URL: MODELS,
      OPENAI_API_KEY: "test-key",
      SECRET_HOSTS: JSON.stringify({ OPENAI_API_KEY: [new URL(MODELS).host] }),
      OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    }),
    // What is deployed asks no server of this machine.
    {
      outgoing: async ({ url, method, headers, body }) =>
        fetch(url.replace(MODELS, openai.url), { method, headers, body, duplex: "half" }),
    },
  );
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await openai[Symbol.asyncDispose]();
});

beforeEach(async () => {
  id = `agent${++count}`;
});

function make(...participants: object[]): Promise<void> {
  return newTeam(worker, { id, label: "Desk", component: inTurn(...participants) }, OWN);
}

async function read<T>(path: string, headers = OWN): Promise<T> {
  return (await (await worker.fetch(path, { headers })).json()) as T;
}

/** The key of a credential that was made for a purpose. */
async function newKey(name: string): Promise<Record<string, string>> {
  const made = await worker.fetch("/v1/keys", jsonInit({ name, scopes: SCOPES }, "POST", OWN));
  return bearer(((await made.json()) as { key: string }).key);
}

test("each message without a context begins a conversation that shares nothing with others", async () => {
  await make(writer());
  const first = await clientOf(worker, id, OWN);
  const secret = await send(first, "My secret is 4711.");
  const second = await clientOf(worker, id, bearer("acme"));
  const other = await send(second, "What did I say?");
  expect(other.contextId).not.toBe(secret.contextId);
  expect(JSON.stringify(openai.requests.at(-1)!.body)).not.toContain("4711");
  // The context continues where it was.
  const more = await send(first, message("And?", { contextId: secret.contextId }));
  expect(more.contextId).toBe(secret.contextId);
  expect(JSON.stringify(openai.requests.at(-1)!.body)).toContain("4711");
  expect(JSON.stringify(openai.requests.at(-1)!.body)).not.toContain("What did I say?");
  expect(await runsOf(worker, id, OWN)).toEqual([]);
});

test("a conversation that waits for a human does not delay others", async () => {
  await make(HUMAN, writer());
  const client = await clientOf(worker, id, OWN);
  const waiting = await send(client, "Ask.");
  expect(stateOf(waiting)).toBe("TASK_STATE_INPUT_REQUIRED");
  const other = await send(client, "Ask me, too.");
  expect(stateOf(other)).toBe("TASK_STATE_INPUT_REQUIRED");
  for (const { id: taskId } of [other, waiting]) {
    const done = await send(client, message("Lisbon", { taskId }));
    expect(done).toMatchObject({ id: taskId, status: { state: TaskState.TASK_STATE_COMPLETED } });
  }
});

test("conversations of another credential are as unknown as those that never existed", async () => {
  await make(HUMAN, writer());
  const client = await clientOf(worker, id, OWN);
  const { id: taskId, contextId } = await send(client, "Ask.");
  const nobodys = {
    taskId: `${contextId.slice(0, -1)}${contextId.endsWith("A") ? "B" : "A"}.${taskId.split(".")[1]}`,
    contextId: `a2a-${"x".repeat(44)}`,
  };
  await newTeam(worker, { id: `${id}-other`, component: inTurn(writer()) }, OWN);
  const url = "https://hooks.example.com/";
  const calls = (about: { taskId: string; contextId: string }): [string, object][] => [
    ["SendMessage", sent("Lisbon", { taskId: about.taskId })],
    ["SendMessage", sent("Lisbon", about)],
    ["SendStreamingMessage", sent("Lisbon", { taskId: about.taskId })],
    ["GetTask", { id: about.taskId }],
    ["ListTasks", { contextId: about.contextId }],
    ["SubscribeToTask", { id: about.taskId }],
    ["CancelTask", { id: about.taskId }],
    ["CreateTaskPushNotificationConfig", { taskId: about.taskId, url }],
    ["GetTaskPushNotificationConfig", { taskId: about.taskId, id: "one" }],
    ["ListTaskPushNotificationConfigs", { taskId: about.taskId }],
    ["DeleteTaskPushNotificationConfig", { taskId: about.taskId, id: "one" }],
  ];
  const callers: [string, Record<string, string>, string][] = [
    ["the operator", { ...bearer(OPERATOR), "troupe-tenant": "acme" }, id],
    ["a created key", await newKey("app"), id],
    ["another key of that name", await newKey("app"), id],
    ["a team token", bearer(await teamToken(worker, id, ["runs:read", "runs:write"])), id],
    ["another agent", OWN, `${id}-other`],
  ];
  for (const [caller, headers, agent] of callers) {
    for (const [index, [method, params]] of calls({ taskId, contextId }).entries()) {
      const named = `${method} ${index} as ${caller}`;
      const given = await post(worker, agent, request(method, params), headers);
      const [, unknown] = calls(nobodys)[index]!;
      const missing = await post(worker, agent, request(method, unknown), headers);
      expect(given.status, named).toBe(missing.status);
      const withoutIds = ({ body }: typeof given): string =>
        JSON.stringify(body).replaceAll(/a2a-[\w-]+(\.[\w-]+)?/g, "ID");
      expect(withoutIds(given), named).toBe(withoutIds(missing));
      expect(given.body.error?.code ?? given.body.result, named).toEqual(
        method === "ListTasks"
          ? expect.objectContaining({ tasks: [], totalSize: 0 })
          : expect.any(Number),
      );
    }
    const { body } = await post(worker, agent, request("ListTasks"), headers);
    expect(body.result, caller).toMatchObject({ tasks: [], totalSize: 0 });
  }
  // Nothing of that has changed anything, and the owner continues.
  const own = await client.listTasks({
    tenant: "",
    contextId: "",
    status: TaskState.TASK_STATE_UNSPECIFIED,
    pageToken: "",
    statusTimestampAfter: undefined,
  });
  expect(own.tasks.map((task) => [task.id, stateOf(task)])).toEqual([
    [taskId, "TASK_STATE_INPUT_REQUIRED"],
  ]);
  expect(await conversationsOf(worker, `${id}-other`, OWN)).toEqual([]);
  expect(answerText(await send(client, message("Lisbon", { taskId })))).not.toBe("");
});

test("a context and a task must belong together", async () => {
  await make(HUMAN);
  const client = await clientOf(worker, id, OWN);
  const [one, two] = [await send(client, "Ask."), await send(client, "Ask.")];
  const { body } = await post(
    worker,
    id,
    request("SendMessage", sent("Lisbon", { taskId: one.id, contextId: two.contextId })),
    OWN,
  );
  expect(body.error).toMatchObject({
    code: -32_602,
    message: expect.stringContaining(one.contextId),
  });
});

test("the team's own conversation continues in the context that is its id, and in tasks with a run's id", async () => {
  await make(writer());
  const started = await worker.fetch(
    `/v1/teams/${id}/runs?wait=60`,
    jsonInit({ task: "Remember 4711." }, "POST", OWN),
  );
  const run = (await started.json()) as { id: string };
  const client = await clientOf(worker, id, await newKey("before"));
  const task = await client.getTask({ tenant: "", id: run.id });
  expect(task).toMatchObject({
    id: run.id,
    contextId: id,
    status: { state: TaskState.TASK_STATE_COMPLETED },
  });
  const next = await send(client, message("And?", { contextId: id }));
  expect(next.contextId).toBe(id);
  expect((await runsOf(worker, id, OWN)).map((one) => one.id)).toEqual([next.id, run.id]);
  expect(JSON.stringify(openai.requests.at(-1)!.body)).toContain("4711");
  const list = (contextId: string) => post(worker, id, request("ListTasks", { contextId }), OWN);
  expect((await list(id)).body.result).toMatchObject({ totalSize: 2 });
  expect((await list("")).body.result).toMatchObject({ totalSize: 0 });
});

test("conversations are listed under their agent, with who began them, and belong to the tenant", async () => {
  // The secret of the component comes along, and is not shown.
  await make(
    writer({
      model_client: {
        provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
        config: { model: "gpt-4o-mini", api_key: "sk-own", base_url: MODELS },
      },
    }),
  );
  const { contextId, id: taskId } = await send(
    await clientOf(worker, id, await newKey("shop")),
    "Hello.",
  );
  expect(openai.requests.at(-1)!.headers["authorization"]).toBe("Bearer sk-own");
  const conversations = await conversationsOf(worker, id, OWN);
  expect(conversations).toMatchObject([
    {
      id: contextId,
      label: "Desk",
      conversation: { agent_id: id, caller: "shop" },
      expires_in: 30 * 86_400,
    },
  ]);
  const { teams } = await read<{ teams: TeamInfo[] }>("/v1/teams");
  expect(teams.map((team) => team.id)).toContain(id);
  expect(teams.map((team) => team.id)).not.toContain(contextId);
  const team = await read<TeamInfo>(`/v1/teams/${contextId}`);
  expect(team).toMatchObject({ conversation: { agent_id: id, caller: "shop" } });
  expect(JSON.stringify([team, conversations])).not.toMatch(/sk-own|owner/);
  const { runs } = await read<{ runs: { id: string }[] }>(`/v1/runs?team=${contextId}`);
  expect(`${contextId}.${runs[0]!.id}`).toBe(taskId);
  // Who deletes the agent deletes them, too.
  await worker.fetch(`/v1/teams/${id}`, { method: "DELETE", headers: OWN });
  await expect
    .poll(async () => (await worker.fetch(`/v1/teams/${contextId}`, { headers: OWN })).status)
    .toBe(404);
  await expect.poll(() => conversationsOf(worker, id, OWN)).toEqual([]);
});

test("the tasks of all conversations are listed by their latest change, page by page", async () => {
  await make(HUMAN);
  const headers = await newKey("lists");
  const client = await clientOf(worker, id, headers);
  const asked: string[] = [];
  for (const text of ["One.", "Two.", "Three."]) asked.push((await send(client, text)).id);
  await send(client, message("Lisbon", { taskId: asked[0]! }));
  const list = async (given: object) =>
    (await post(worker, id, request("ListTasks", given), headers)).body.result as unknown as {
      tasks: { id: string; artifacts?: unknown; history?: unknown[] }[];
      nextPageToken: string;
      totalSize: number;
    };
  const first = await list({ pageSize: 2 });
  expect(first).toMatchObject({ totalSize: 3, tasks: [{ id: asked[0] }, { id: asked[2] }] });
  const second = await list({ pageSize: 2, pageToken: first.nextPageToken });
  expect(second).toMatchObject({ nextPageToken: "", totalSize: 3, tasks: [{ id: asked[1] }] });
  expect(first.tasks[0]).not.toHaveProperty("artifacts");
  const waiting = await list({ status: "TASK_STATE_INPUT_REQUIRED", includeArtifacts: true });
  expect(waiting.tasks.map((task) => task.id)).toEqual([asked[2], asked[1]]);
  expect(waiting.tasks[0]).toMatchObject({
    artifacts: [],
    status: { message: { parts: [{ text: "Which city?" }, {}] } },
  });
  const whole = await list({ historyLength: 5 });
  expect(whole.tasks[0]!.history).toHaveLength(1);
});

test("each team token has conversations of its own", async () => {
  await make(writer());
  const tokens = await Promise.all(
    [1, 2].map(() => teamToken(worker, id, ["runs:read", "runs:write", "teams:read"])),
  );
  const clients = await Promise.all(tokens.map((token) => clientOf(worker, id, bearer(token))));
  const task = await send(clients[0]!, "Hello.");
  expect(await clients[0]!.getTask({ tenant: "", id: task.id })).toMatchObject({ id: task.id });
  await expect(clients[1]!.getTask({ tenant: "", id: task.id })).rejects.toMatchObject({
    name: "TaskNotFoundError",
  });
  // It is good for the agent's address only.
  const direct = await worker.fetch(`/v1/teams/${task.contextId}`, { headers: bearer(tokens[0]!) });
  expect(direct.status).toBe(403);
  await direct.body?.cancel();
});

test("conversations count as teams of the tenant, and a refused message begins none", async () => {
  await using small = await TestWorker.start(await deployed({ TENANT_TEAMS: "2" }));
  await newTeam(small, { id, component: inTurn(HUMAN) }, OWN);
  const begin = (given: object) => post(small, id, request("SendMessage", given), OWN);
  const first = sent("Ask.");
  expect((await begin(first)).status).toBe(200);
  const refused = await begin(sent("Ask."));
  expect(refused).toMatchObject({
    status: 429,
    body: { error: { data: [{ reason: "TOO_MANY_TEAMS" }] } },
  });
  // The same message finds its conversation, however many there are.
  expect((await begin(first)).status).toBe(200);
  expect(await conversationsOf(small, id, OWN)).toHaveLength(1);
  const none = await post(small, "none", request("SendMessage", sent("Hi.")), OWN);
  expect(none.status).toBe(404);
  expect((await post(small, "none", request("ListTasks"), OWN)).status).toBe(404);
});

test("an idle conversation is erased after the time of the setting", async () => {
  await using brief = await TestWorker.start({ A2A_IDLE_SECONDS: "1" });
  await newTeam(brief, { id, component: inTurn(HUMAN) });
  const client = await clientOf(brief, id);
  const task = await send(client, "Ask.");
  const { contextId } = task;
  await expect.poll(() => conversationsOf(brief, id)).toEqual([]);
  await expect(client.getTask({ tenant: "", id: task.id })).rejects.toMatchObject({
    name: "TaskNotFoundError",
  });
  // The context begins again, in another team.
  const next = await send(client, message("Hello?", { contextId }));
  expect(next.contextId).toBe(contextId);
  expect(next.id.split(".")[0]).not.toBe(task.id.split(".")[0]);
});

test.each(["0", "-1", "1.5", "a month", "1e12"])("A2A_IDLE_SECONDS=%s is refused", (setting) => {
  expect(() => a2aSettings({ A2A_IDLE_SECONDS: setting })).toThrow(
    /^A2A_IDLE_SECONDS is ".*": it must be a whole number of seconds, 1 to 315360000$/,
  );
});
