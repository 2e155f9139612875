import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { TenantInfo } from "#contract/tenant/tenant.ts";
import { sha256Hex } from "#core/hash.ts";
import { SAMPLE_COMPONENT } from "../../support/sample-component.ts";
import { jsonInit } from "../../support/http-app.ts";
import { TestWorker } from "../../support/worker.ts";

const OPERATOR = "operator-secret";

let worker: TestWorker;
let tenant: string;
let count = 0;

beforeAll(async () => {
  worker = await TestWorker.start({
    TROUPE_OPEN: "",
    OPERATOR_KEY_HASH: await sha256Hex(OPERATOR),
    TENANT_COLLECTIONS: "2",
  });
});

afterAll(() => worker[Symbol.asyncDispose]());

beforeEach(() => {
  tenant = `counted-${++count}`;
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function send(method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${OPERATOR}`, "troupe-tenant": tenant };
  const init = body === undefined ? { method, headers } : jsonInit(body, method, headers);
  const response = await worker.fetch(path, init);
  const text = await response.text();
  const read = text === "" ? {} : (JSON.parse(text) as Answer["body"]);
  return { status: response.status, body: read };
}

const limit = (limits: object): Promise<Answer> => send("PUT", `/v1/tenants/${tenant}`, { limits });

async function info(): Promise<TenantInfo> {
  return (await send("GET", `/v1/tenants/${tenant}`)).body as unknown as TenantInfo;
}

const put = (collection: string): Promise<Answer> =>
  send("PUT", `/v1/collections/${collection}`, {});
const putDocument = (collection: string, content = "Hello."): Promise<Answer> =>
  send("PUT", `/v1/collections/${collection}/documents/guide`, {
    mime_type: "text/plain",
    content,
  });
const remember = (user: string, content = "Tea."): Promise<Answer> =>
  send("POST", "/v1/memories", { scope: "user", user, memories: [{ content }] });
const newTeam = (id: string): Promise<Answer> =>
  send("POST", "/v1/teams", { id, component: SAMPLE_COMPONENT });

const over = (status: number, code: string, name: string, value: number): object => ({
  status,
  body: { status, code, limit: name, value },
});

test("a collection above the limit is refused before it exists, by the setting and by the tenant's own limit", async () => {
  expect((await put("a")).status).toBe(201);
  expect((await putDocument("b")).status).toBe(202);
  const refused = over(429, "too_many_collections", "collections", 2);
  expect(await put("c")).toMatchObject(refused);
  expect(await putDocument("c")).toMatchObject(refused);
  expect((await send("GET", "/v1/collections/c")).status).toBe(404);
  const { collections } = (await send("GET", "/v1/collections")).body;
  expect(collections).toMatchObject([{ id: "a" }, { id: "b" }]);

  // What there is stays usable, also above a limit that came later.
  await limit({ collections: 1 });
  expect((await put("a")).status).toBe(200);
  expect((await putDocument("b", "Again.")).status).toBe(202);
  expect((await send("DELETE", "/v1/collections/a")).status).toBe(204);
  expect((await put("c")).status).toBe(429);
  expect((await send("DELETE", "/v1/collections/b")).status).toBe(204);
  expect((await put("c")).status).toBe(201);
  expect(await info()).toMatchObject({ collections: 1 });
});

test("a tool of a team above the limit is refused, for new teams and forks, too", async () => {
  await limit({ team_tools: 2 });
  const tool = (name: string) => ({
    name,
    description: "Writes.",
    input_schema: { type: "object" },
    task: "Write.",
  });
  const made = { component: SAMPLE_COMPONENT };
  const create = (id: string): Promise<Answer> =>
    send("POST", "/v1/teams", { ...made, id, tool: tool(id) });
  expect((await create("a")).status).toBe(201);
  expect((await newTeam("b")).status).toBe(201);
  const putTool = (team: string, name = team): Promise<Answer> =>
    send("PUT", `/v1/teams/${team}/tool`, tool(name));
  expect((await putTool("b")).status).toBe(200);
  const refused = over(429, "too_many_team_tools", "team_tools", 2);
  expect(await create("c")).toMatchObject(refused);
  expect((await send("GET", "/v1/teams/c")).status).toBe(404);
  expect(await send("POST", "/v1/teams/a/fork", {})).toMatchObject(refused);
  expect((await newTeam("d")).status).toBe(201);
  expect(await putTool("d")).toMatchObject(refused);
  // A tool that there is can be replaced.
  expect((await putTool("b", "other")).status).toBe(200);
  expect(await info()).toMatchObject({ team_tools: 2 });
  expect((await send("DELETE", "/v1/teams/b/tool")).status).toBe(204);
  expect((await putTool("d")).status).toBe(200);
  expect((await send("DELETE", "/v1/teams/a")).status).toBe(204);
  await expect.poll(info).toMatchObject({ team_tools: 1 });
});

test("users whose memories were erased do not count as users with memories", async () => {
  await limit({ memory_users: 2 });
  expect((await remember("ada")).status).toBe(201);
  expect((await remember("bob")).status).toBe(201);
  expect(await remember("eve")).toMatchObject(
    over(429, "too_many_memory_users", "memory_users", 2),
  );
  expect((await remember("ada", "Coffee.")).status).toBe(201);
  expect((await send("GET", "/v1/memories?user=eve")).body).toMatchObject({ memories: [] });
  // An erasure is never refused, and makes no user who counts.
  expect((await send("DELETE", "/v1/memories?user=eve")).status).toBe(200);
  expect(await info()).toMatchObject({ memory_users: 2 });
  expect((await send("DELETE", "/v1/memories?user=bob")).status).toBe(200);
  await expect.poll(info).toMatchObject({ memory_users: 1 });
  expect((await remember("eve")).status).toBe(201);
  expect((await remember("bob")).status).toBe(429);
});

test("a run that would remember facts about one user too many says so, and stores nothing", async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const call = {
    id: "1",
    name: "remember",
    arguments: JSON.stringify({ content: "The door is blue." }),
  };
  const answers = [
    { finish_reason: "function_calls", content: [call], usage, cached: false },
    "Done.",
  ];
  const model_info = {
    vision: false,
    function_calling: true,
    json_output: true,
    family: "unknown",
    structured_output: true,
  };
  const component = {
    provider: "autogen_agentchat.agents.AssistantAgent",
    config: {
      name: "helper",
      reflect_on_tool_use: true,
      memory: [
        { provider: "troupe.memory.VectorMemory", config: { scope: "user", writable: true } },
      ],
      model_client: {
        provider: "autogen_ext.models.replay.ReplayChatCompletionClient",
        config: { chat_completions: [...answers, ...answers], model_info },
      },
    },
  };
  await limit({ memory_users: 1 });
  expect((await send("POST", "/v1/teams", { id: "helper", component })).status).toBe(201);
  const run = (user: string): Promise<Answer> =>
    send("POST", "/v1/teams/helper/runs?wait=60", { task: "Remember the door.", user });
  expect((await run("ada")).body).toMatchObject({ status: "completed" });
  expect((await run("eve")).body).toMatchObject({ status: "completed" });
  const { messages } = (await send("GET", "/v1/teams/helper/messages")).body;
  expect(JSON.stringify(messages)).toContain("its limit of 1 memory users (memory_users)");
  await expect
    .poll(async () => (await send("GET", "/v1/memories?user=ada")).body["memories"])
    .toHaveLength(1);
  expect((await send("GET", "/v1/memories?user=eve")).body).toMatchObject({ memories: [] });
  expect(await info()).toMatchObject({ memory_users: 1 });
});

test("stored bytes above the limit give 507 to a run, a team, a document and a memory until something is deleted", async () => {
  expect((await newTeam("first")).status).toBe(201);
  expect((await putDocument("handbook", "Words. ".repeat(40_000))).status).toBe(202);
  expect((await remember("ada")).status).toBe(201);
  await expect.poll(async () => (await info()).stored_bytes).toBeGreaterThan(280_000);
  const value = (await info()).stored_bytes - 1;
  await limit({ stored_bytes: value });
  const refused = over(507, "too_many_stored_bytes", "stored_bytes", value);
  expect(await newTeam("second")).toMatchObject(refused);
  expect((await send("GET", "/v1/teams/second")).status).toBe(404);
  expect(await send("POST", "/v1/teams/first/runs", { task: "Hello." })).toMatchObject(refused);
  expect(await putDocument("handbook")).toMatchObject(refused);
  expect(await put("other")).toMatchObject(refused);
  expect(await remember("ada")).toMatchObject(refused);
  expect(await remember("bob")).toMatchObject(refused);
  const first = await send("GET", "/v1/teams/first");
  expect(first.status).toBe(200);

  expect((await send("DELETE", "/v1/collections/handbook/documents/guide")).status).toBe(204);
  await expect.poll(async () => (await newTeam("second")).status).toBe(201);
  await limit({ stored_bytes: null });
  expect((await putDocument("handbook")).status).toBe(202);
  const before = (await info()).stored_bytes;
  await send("DELETE", "/v1/teams/first");
  await expect.poll(async () => (await info()).stored_bytes).toBeLessThan(before);
});
