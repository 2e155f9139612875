import { afterAll, beforeAll, expect, test } from "vitest";
import { jsonInit } from "../../../support/http-app.ts";
import { TestWorker } from "../../../support/worker.ts";

interface Noted {
  id: string;
  notes: { path: string; message: string }[];
}

const SETTINGS = {
  SECRETS_KEY: btoa("k".repeat(32)),
  OPENAI_API_KEY: "sk-test",
  OPENAI_BASE_URL: "https://models.example.com/v1",
  SECRET_HOSTS: JSON.stringify({
    UNSET_KEY: ["api.example.com"],
    OPENAI_API_KEY: ["models.example.com"],
  }),
};

let worker: TestWorker;

beforeAll(async () => {
  worker = await TestWorker.start(SETTINGS);
});

afterAll(() => worker[Symbol.asyncDispose]());

const client = (provider: string, config: object) => ({ provider, config });

const agent = (model_client: object, config: object = {}) => ({
  provider: "AssistantAgent",
  config: { name: "helper", description: "", model_client, ...config },
});

/** The notes on a component, which creation, the team and validation have alike. */
async function notesOn(component: object, on = worker): Promise<Noted["notes"]> {
  const created = await on.fetch("/v1/teams", jsonInit({ component }));
  expect(created.status, await created.clone().text()).toBe(201);
  const { id, notes } = (await created.json()) as Noted;
  const found = (await (await on.fetch(`/v1/teams/${id}`)).json()) as Noted;
  expect(found.notes).toEqual(notes);
  const validated = await on.fetch("/v1/components/validate", jsonInit({ component }));
  expect(await validated.json()).toMatchObject({ valid: true, notes });
  return notes;
}

const KEY = "component.config.model_client.config.api_key";

test.each([
  ["OpenAIChatCompletionClient", { model: "gemini-2.5-pro" }, "GEMINI_API_KEY is not set"],
  ["AnthropicChatCompletionClient", { model: "claude-sonnet-4-5" }, "ANTHROPIC_API_KEY is not set"],
  [
    "OpenAIChatCompletionClient",
    { model: "gpt-4o", base_url: "https://api.example.com/v1", api_key: "env:UNSET_KEY" },
    "UNSET_KEY is not set",
  ],
  [
    "OpenAIChatCompletionClient",
    { model: "gpt-4o", base_url: "https://api.example.com/v1" },
    'OPENAI_API_KEY may not be sent to "api.example.com"',
  ],
  [
    "AzureOpenAIChatCompletionClient",
    { model: "gpt-4o", azure_endpoint: "https://x.openai.azure.com", api_version: "2025-03-01" },
    "AZURE_OPENAI_API_KEY is not set",
  ],
])("a key of an %s that is not set gets a note", async (provider, config, message) => {
  const notes = await notesOn(agent(client(provider, config)));
  expect(notes).toEqual([{ path: KEY, message: expect.stringContaining(message) as string }]);
});

test("a key that is set gets no note", async () => {
  expect(await notesOn(agent(client("OpenAIChatCompletionClient", { model: "gpt-4o" })))).toEqual(
    [],
  );
});

test("a secret in a header that is not set gets a note", async () => {
  const tool = {
    provider: "HttpTool",
    config: {
      name: "look_up",
      scheme: "https",
      host: "api.example.com",
      path: "/",
      json_schema: { type: "object", properties: {} },
      headers: { authorization: "Bearer env:UNSET_KEY" },
    },
  };
  const mcp = {
    provider: "McpWorkbench",
    config: {
      server_params: {
        type: "StreamableHttpServerParams",
        url: "https://api.example.com/mcp",
        headers: { authorization: "Bearer env:UNSET_KEY" },
      },
    },
  };
  const openAI = client("OpenAIChatCompletionClient", { model: "gpt-4o" });
  expect(await notesOn(agent(openAI, { tools: [tool] }))).toEqual([
    {
      path: "component.config.tools[0].config.headers.authorization",
      message:
        'The secret UNSET_KEY is not set. Set it with "wrangler secret put UNSET_KEY", or as an environment variable of "npm start".',
    },
  ]);
  expect(await notesOn(agent(openAI, { workbench: [mcp] }))).toEqual([
    {
      path: "component.config.workbench[0].config.server_params.headers.authorization",
      message:
        'The secret UNSET_KEY is not set. Set it with "wrangler secret put UNSET_KEY", or as an environment variable of "npm start".',
    },
  ]);
});

const THINKING = { type: "enabled", budget_tokens: 4000 };

test.each([
  ["a limit below the budget", { max_tokens: 4000, thinking: THINKING }, "max_tokens", "4000"],
  ["a temperature", { temperature: 0.3, thinking: THINKING }, "temperature", "while it thinks"],
  ["top_k", { top_k: 3, thinking: { type: "adaptive" } }, "top_k", "while it thinks"],
  ["a small top_p", { top_p: 0.5, thinking: THINKING }, "top_p", "less than 0.95"],
])("%s beside Claude's thinking gets a note", async (_, config, field, message) => {
  const model = "claude-opus-4-6";
  const claude = client("AnthropicChatCompletionClient", { model, api_key: "k", ...config });
  expect(await notesOn(agent(claude))).toEqual([
    {
      path: `component.config.model_client.config.${field}`,
      message: expect.stringContaining(message) as string,
    },
  ]);
});

test.each([
  { max_tokens: 4001, temperature: 1, top_p: 0.95, thinking: THINKING },
  { temperature: 0.3, top_k: 3, thinking: { type: "disabled" } },
  {
    max_tokens: 2000,
    thinking: THINKING,
    default_headers: { "anthropic-beta": "interleaved-thinking-2025-05-14" },
  },
])("options that Claude accepts beside thinking get no note: %o", async (config) => {
  const model = "claude-opus-4-5";
  const claude = client("AnthropicChatCompletionClient", { model, api_key: "k", ...config });
  expect(await notesOn(agent(claude))).toEqual([]);
});

const structured_message_factory = {
  provider: "StructuredMessageFactory",
  config: {
    content_model_name: "Answer",
    json_schema: { type: "object", properties: { city: { type: "string" } } },
  },
};

test.each([THINKING, { type: "adaptive" }])(
  "a structured answer beside Claude's thinking gets a note: %o",
  async (thinking) => {
    const model = "claude-opus-4-6";
    const claude = client("AnthropicChatCompletionClient", { model, api_key: "k", thinking });
    expect(await notesOn(agent(claude, { structured_message_factory }))).toEqual([
      {
        path: "component.config.structured_message_factory",
        message:
          'each call of "helper" is asked without thinking: the API refuses it where a tool is forced. ' +
          "Leave out structured_message_factory, or that setting of the model client",
      },
    ]);
    const other = client("AnthropicChatCompletionClient", { model, api_key: "k" });
    expect(await notesOn(agent(other, { structured_message_factory }))).toEqual([]);
  },
);

test("a missing key hides no other note on an agent with a structured answer", async () => {
  const model_info = {
    vision: false,
    function_calling: false,
    json_output: true,
    structured_output: true,
    family: "unknown",
  };
  const unset = client("OpenAIChatCompletionClient", {
    model: "own",
    base_url: "https://api.example.com/v1",
    model_info,
  });
  const tool = {
    provider: "FunctionTool",
    config: { name: "calculator", description: "", source_code: "", global_imports: [] },
  };
  const workbench = [{ provider: "StaticWorkbench", config: { tools: [tool] } }];
  const notes = await notesOn(agent(unset, { structured_message_factory, workbench }));
  expect(notes.map(({ path }) => path)).toEqual(["component.config.workbench", KEY]);
});

test("structured output of a model that has none gets a note", async () => {
  const deepseek = client("OpenAIChatCompletionClient", {
    model: "deepseek-v4-pro",
    base_url: "https://api.example.com/v1",
    api_key: "k",
  });
  expect(await notesOn(agent(deepseek, { structured_message_factory }))).toEqual([
    {
      path: "component.config.structured_message_factory",
      message: expect.stringContaining("take another model, or leave") as string,
    },
  ]);
  const openAI = client("OpenAIChatCompletionClient", { model: "gpt-4o" });
  expect(await notesOn(agent(openAI, { structured_message_factory }))).toEqual([]);
  const replay = client("ReplayChatCompletionClient", { chat_completions: ["{}"] });
  expect(await notesOn(agent(replay, { structured_message_factory }))).toEqual([]);
});

test("a workbench beside a model that calls no functions gets a note, tools are refused", async () => {
  const calculator = {
    provider: "FunctionTool",
    config: { name: "calculator", description: "", source_code: "", global_imports: [] },
  };
  const workbench = (tools: object[]) => [{ provider: "StaticWorkbench", config: { tools } }];
  const replay = client("ReplayChatCompletionClient", { chat_completions: ["Hello."] });
  expect(await notesOn(agent(replay, { workbench: workbench([calculator]) }))).toEqual([
    {
      path: "component.config.workbench",
      message: expect.stringContaining("does not call functions") as string,
    },
  ]);
  expect(await notesOn(agent(replay, { workbench: workbench([]) }))).toEqual([]);
  const refused = await worker.fetch(
    "/v1/teams",
    jsonInit({ component: agent(replay, { tools: [calculator] }) }),
  );
  expect(refused.status).toBe(422);
});

test("memories outside of the team have a note that names the missing binding", async () => {
  await using without = await TestWorker.start(SETTINGS, { memories: false });
  const memory = (scope: string): object => client("VectorMemory", { scope });
  const component = agent(client("OpenAIChatCompletionClient", { model: "gpt-4o" }), {
    memory: [memory("team"), memory("user"), client("CollectionMemory", { collection: "docs" })],
    tools: [client("SearchCollection", { collection: "docs" })],
  });
  const byWords = (path: string) => ({ path, message: expect.stringContaining("by words only") });
  const here = await notesOn(component);
  expect(here).toEqual([
    byWords("component.config.memory[0].config.embedding"),
    byWords("component.config.memory[1].config.embedding"),
  ]);
  const missing = (path: string) => ({ path, message: expect.stringContaining("binding MEMORY") });
  const there = await notesOn(component, without);
  expect(there).toHaveLength(5);
  expect(there).toEqual(
    expect.arrayContaining([
      ...here,
      missing("component.config.memory[1].config.scope"),
      missing("component.config.memory[2].config.collection"),
      missing("component.config.tools[0].config.collection"),
    ]),
  );
});

test.each([
  "provider='autogen_agentchat.agents.UserProxyAgent' component_type='agent' config={'name': 'human'}",
  "{'provider': 'autogen_agentchat.agents.UserProxyAgent', 'config': {'name': 'human'}}",
])("a dump as Python prints it is refused with the call that writes JSON: %s", async (body) => {
  const headers = { "content-type": "application/json" };
  const response = await worker.fetch("/v1/teams", { method: "POST", headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: "malformed_json",
    detail: expect.stringContaining("json.dumps(team.dump_component().model_dump())"),
  });
});

test("a dump is a valid body: with provider at the top it is the whole component", async () => {
  const dump = {
    provider: "autogen_agentchat.agents.UserProxyAgent",
    component_type: "agent",
    version: 1,
    label: "The human",
    description: "Asks a human.",
    config: { name: "human", color: "red" },
  };
  const notes = [
    { path: "component.config.color", message: expect.stringContaining("no effect") as string },
  ];
  const validated = await worker.fetch("/v1/components/validate", jsonInit(dump));
  expect(await validated.json()).toMatchObject({ valid: true, notes });
  const created = await worker.fetch("/v1/teams", jsonInit(dump));
  expect(created.status).toBe(201);
  const team = (await created.json()) as { id: string };
  expect(team).toMatchObject({ label: null, component: dump, notes });
  const path = `/v1/teams/${team.id}/component`;
  const next = { ...dump, label: "Another" };
  for (const body of [next, { component: next }]) {
    const replaced = await worker.fetch(path, jsonInit(body, "PUT"));
    expect(await replaced.json()).toMatchObject({ label: null, component: next, notes });
  }
  for (const url of ["/v1/teams", "/v1/components/validate"]) {
    const invalid = await worker.fetch(url, jsonInit({ ...dump, config: {} }));
    expect(invalid.status).toBe(422);
    expect(await invalid.json()).toMatchObject({
      code: "invalid_component",
      errors: [{ path: "component.config.name" }],
    });
    const unknown = await worker.fetch(url, jsonInit({ component: dump, colour: "red" }));
    expect(await unknown.json()).toMatchObject({
      code: "invalid_request",
      errors: [{ path: "colour" }],
    });
    expect((await worker.fetch(url, jsonInit([dump]))).status).toBe(422);
  }
});
