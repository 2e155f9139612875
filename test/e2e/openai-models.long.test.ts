import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RunInfo } from "#contract/run.ts";
import { EchoServer } from "../support/echo-server.ts";
import type { RuleInput } from "../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../support/fake-openai/server.ts";
import { jsonInit } from "../support/http-app.ts";
import { TestWorker } from "../support/worker.ts";

// Teams on OpenAI's models of today, in the Worker as it is deployed, with a server that refuses what OpenAI's refuses.

const weather = (id: string) => ({ id, name: "weather", arguments: { city: "Bern" } });

const RULES: RuleInput[] = [
  {
    name: "alice hands off and looks at the weather",
    match: { system: "You are alice", role: "user" },
    reply: { reasoning: "Bob knows.", tool_calls: [weather("w1"), { name: "transfer_to_bob" }] },
  },
  {
    name: "looks at the weather twice at once",
    match: { role: "user" },
    reply: {
      reasoning: "I must look.",
      content: "One moment.",
      tool_calls: [weather("w2"), weather("w3")],
    },
  },
  {
    name: "answers",
    match: { role: "tool" },
    reply: { reasoning: "It is warm.", content: "It has 20 degrees." },
  },
];

let worker: TestWorker;
let models: FakeOpenAI;
let server: EchoServer;
let directory: string;

const startWorker = (): Promise<TestWorker> =>
  TestWorker.start(
    { OPENAI_BASE_URL: models.url, OPENAI_API_KEY: "key", SECRETS_KEY: btoa("k".repeat(32)) },
    { persistTo: directory },
  );

beforeAll(async () => {
  models = await startFakeOpenAI({ rules: RULES });
  server = await EchoServer.start((response) => void response.end("20 degrees"));
  directory = await mkdtemp(join(tmpdir(), "troupe-models-"));
  worker = await startWorker();
});

afterAll(async () => {
  await worker[Symbol.asyncDispose]();
  await Promise.all([models.close(), server[Symbol.asyncDispose]()]);
  await rm(directory, { recursive: true });
});

const agent = (name: string, client: object, config: object) => ({
  provider: "autogen_agentchat.agents.AssistantAgent",
  config: {
    name,
    description: name,
    system_message: `You are ${name}.`,
    model_client: client,
    reflect_on_tool_use: true,
    workbench: [
      {
        provider: "autogen_core.tools.StaticWorkbench",
        config: {
          tools: [
            {
              provider: "autogen_ext.tools.http.HttpTool",
              config: {
                name: "weather",
                host: "127.0.0.1",
                port: server.port,
                path: "/weather/{city}",
                json_schema: {
                  type: "object",
                  properties: { city: { type: "string" } },
                  required: ["city"],
                },
              },
            },
          ],
        },
      },
    ],
    ...config,
  },
});

type Client = Record<string, unknown>;

const openAI = (config: Client) => ({
  provider: "autogen_ext.models.openai.OpenAIChatCompletionClient",
  config,
});

const assistant = (client: object, stream: boolean) => ({
  provider: "autogen_agentchat.teams.RoundRobinGroupChat",
  config: {
    participants: [agent("helper", client, { model_client_stream: stream })],
    max_turns: 1,
  },
});

const swarm = (client: object, stream: boolean) => ({
  provider: "autogen_agentchat.teams.Swarm",
  config: {
    participants: [
      agent("alice", client, { model_client_stream: stream, handoffs: [{ target: "bob" }] }),
      agent("bob", client, { model_client_stream: stream }),
    ],
    termination_condition: {
      provider: "autogen_agentchat.conditions.TextMentionTermination",
      config: { text: "It has 20 degrees" },
    },
  },
});

async function run(id: string, task: string): Promise<RunInfo> {
  const path = `/v1/teams/${id}/runs?wait=60`;
  return (await (await worker.fetch(path, jsonInit({ task }))).json()) as RunInfo;
}

const MODELS: [string, Client][] = [
  ["gpt-5.4", { model: "gpt-5.4", reasoning_effort: "medium" }],
  ["gpt-5.5", { model: "gpt-5.5" }],
  ["gpt-5.6", { model: "gpt-5.6" }],
];
const KINDS = { assistant, swarm };

const cases = MODELS.flatMap(([model, config]) =>
  Object.keys(KINDS).flatMap((kind) =>
    [false, true].map((stream) => [model, kind, stream, config] as const),
  ),
);

test.each(cases)("%s: %s, streamed: %s", async (model, kind, stream, config) => {
  const id = `${model}-${kind}-${stream}`.replaceAll(".", "-");
  const component = KINDS[kind as keyof typeof KINDS](openAI(config), stream);
  const created = await worker.fetch("/v1/teams", jsonInit({ id, component }));
  expect(created.status).toBe(201);
  const before = models.requests.length;
  for (const task of ["What is the weather?", "And now?"]) {
    const { status, error, result } = await run(id, task);
    expect({ status, error }).toEqual({ status: "completed", error: null });
    expect(result?.messages?.at(-1)).toMatchObject({ content: "It has 20 degrees." });
    const thoughts = result?.messages?.filter(({ type }) => type === "ThoughtEvent") ?? [];
    expect(thoughts.map((thought) => "content" in thought && thought.content)).toContain(
      "It is warm.",
    );
  }
  const sent = models.requests.slice(before);
  expect(new Set(sent.map(({ path, status }) => `${path} ${status}`))).toEqual(
    new Set(["/v1/responses 200"]),
  );
  expect(sent).toHaveLength(kind === "swarm" ? 5 : 4);
});

test("a team continues in a Worker that was started again, with the earlier reasoning", async () => {
  const component = swarm(openAI({ model: "gpt-5.6" }), true);
  await worker.fetch("/v1/teams", jsonInit({ id: "again", component }));
  await run("again", "What is the weather?");
  await worker[Symbol.asyncDispose]();
  worker = await startWorker();
  const before = models.requests.length;
  expect(await run("again", "And now?")).toMatchObject({ status: "completed", error: null });
  const sent = models.requests.slice(before);
  expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  const body = sent[0]?.body as { input: { type?: string }[] } | undefined;
  // What belongs to the call that alice passed on comes from her answer, and bob's own two answers come whole.
  expect(body?.input.filter(({ type }) => type === "reasoning")).toHaveLength(3);
});

test("a server that the config names uses chat completions, and the other API for refused requests", async () => {
  const config = {
    model: "gpt-5.6",
    base_url: models.url.replace("127.0.0.1", "localhost"),
    api_key: "key",
  };
  const component = assistant(openAI(config), true);
  await worker.fetch("/v1/teams", jsonInit({ id: "named", component }));
  const before = models.requests.length;
  expect(await run("named", "What is the weather?")).toMatchObject({ status: "completed" });
  expect(models.requests.slice(before).map(({ path, status }) => `${path} ${status}`)).toEqual([
    "/v1/chat/completions 400",
    "/v1/responses 200",
    "/v1/responses 200",
  ]);
});

test("a model from an earlier version is called as before", async () => {
  const component = assistant(openAI({ model: "gpt-4o" }), false);
  await worker.fetch("/v1/teams", jsonInit({ id: "before", component }));
  const before = models.requests.length;
  expect(await run("before", "What is the weather?")).toMatchObject({ status: "completed" });
  const sent = models.requests.slice(before);
  expect(sent.map(({ path }) => path)).toEqual(["/v1/chat/completions", "/v1/chat/completions"]);
});

test("OpenAIAgent: a state of AutoGen continues from its response once, then with the whole conversation", async () => {
  const component = {
    provider: "autogen_agentchat.teams.RoundRobinGroupChat",
    config: {
      participants: [
        {
          provider: "autogen_ext.agents.openai.OpenAIAgent",
          config: {
            name: "searcher",
            description: "Searches.",
            model: "gpt-5.5",
            instructions: "You search.",
            tools: [{ type: "web_search_preview" }],
          },
        },
      ],
      max_turns: 1,
    },
  };
  models.rules.add([
    { name: "search", match: { user: "search" }, reply: { reasoning: "Hm.", content: "Found." } },
  ]);
  const stored = await fetch(`${models.url}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer key" },
    body: JSON.stringify({ model: "gpt-5.5", input: "Please search.", store: true }),
  });
  const { id } = (await stored.json()) as { id: string };
  const created = await worker.fetch("/v1/teams", jsonInit({ id: "searching", component }));
  expect(created.status).toBe(201);
  const statePath = "/v1/teams/searching/state";
  const state = (await (await worker.fetch(statePath)).json()) as {
    agent_states: Record<string, object>;
  };
  const agent_state = {
    type: "OpenAIAgentState",
    response_id: id,
    history: [
      { role: "user", content: "Please search." },
      { role: "assistant", content: "Found." },
    ],
  };
  const agent_states = {
    ...state.agent_states,
    searcher: { ...state.agent_states["searcher"], agent_state },
  };
  const loaded = await worker.fetch(statePath, jsonInit({ ...state, agent_states }, "PUT"));
  expect(loaded.status).toBe(204);
  const before = models.requests.length;
  for (const task of ["Please search again.", "And search once more."])
    expect(await run("searching", task)).toMatchObject({ status: "completed", error: null });
  const sent = models.requests.slice(before);
  expect(sent.map(({ status }) => status)).toEqual([200, 200]);
  expect(sent[0]?.body).toMatchObject({
    previous_response_id: id,
    input: [{ role: "user" }],
    tools: [{ type: "web_search_preview" }],
  });
  const { input, previous_response_id } = (sent[1]?.body ?? {}) as {
    input?: { type?: string; role?: string }[];
    previous_response_id?: string;
  };
  expect(previous_response_id).toBeUndefined();
  expect(input?.map(({ type, role }) => type ?? role)).toEqual([
    "system",
    "user",
    "assistant",
    "user",
    "reasoning",
    "message",
    "user",
  ]);
});

test.each([
  ["2025-04-01-preview", "/openai/responses?api-version=2025-04-01-preview"],
  ["2024-10-21", "/openai/v1/responses"],
])("a deployment on Azure is called by the version %s", async (api_version, path) => {
  const client = {
    provider: "autogen_ext.models.openai.AzureOpenAIChatCompletionClient",
    config: {
      model: "gpt-5.6",
      azure_deployment: "gpt-5.6-ours",
      azure_endpoint: models.origin,
      api_version,
      api_key: "azure",
    },
  };
  const id = `azure-${api_version}`;
  await worker.fetch("/v1/teams", jsonInit({ id, component: swarm(client, true) }));
  const before = models.requests.length;
  expect(await run(id, "What is the weather?")).toMatchObject({ status: "completed", error: null });
  expect(models.requests.slice(before).map((sent) => [sent.path, sent.status])).toEqual([
    [path, 200],
    [path, 200],
    [path, 200],
  ]);
});
