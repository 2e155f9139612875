import { describe, expect, test } from "vitest";
import {
  ComponentRegistry,
  type OpenAIAgent,
  openAIComponents,
  RoundRobinGroupChat,
  run,
  type JsonObject,
  type TextMessage,
} from "troupe";
import type { RuleInput } from "../../../../support/fake-openai/rule.ts";
import { outcome, RecordingHost } from "../../../../core/support/recording-host.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";

const PROVIDER = "autogen_ext.agents.openai.OpenAIAgent";

/** As AutoGen dumps one. */
const DUMPED = {
  name: "helper",
  description: "Helps.",
  model: "gpt-5.6",
  instructions: "Be brief.",
  tools: [
    { type: "web_search_preview" },
    { type: "code_interpreter", container: { type: "auto" } },
  ],
  temperature: 1.0,
  json_mode: false,
  store: true,
  truncation: "disabled",
};

const ANSWER: RuleInput = { name: "answer", reply: { reasoning: "I know.", content: "It is so." } };

const environment = (fake: FakeOpenAI) => {
  const env: Record<string, string> = {
    OPENAI_BASE_URL: fake.url,
    OPENAI_API_KEY: "key",
    MCP_TOKEN: "secret-of-mcp",
  };
  return { env: (name: string) => env[name] };
};

const registryOf = (fake: FakeOpenAI) =>
  new ComponentRegistry().register(...openAIComponents(environment(fake)));

const agentOf = (fake: FakeOpenAI, config: JsonObject = {}): OpenAIAgent =>
  registryOf(fake).load<OpenAIAgent>(
    { provider: PROVIDER, config: { ...DUMPED, ...config } },
    "agent",
  );

async function ask(agent: OpenAIAgent, task: string) {
  const team = new RoundRobinGroupChat([agent], { maxTurns: 1 });
  return run(team, { task });
}

const bodies = (fake: FakeOpenAI) => fake.requests.map(({ body }) => body as JsonObject);

/** The kinds of the items of a request. */
const itemsOf = (body: JsonObject | undefined) =>
  (body?.["input"] as JsonObject[] | undefined)?.map(({ type, role }) => type ?? role);

test("the agent answers with the tools that OpenAI runs, and keeps the conversation with its reasoning", async () => {
  await using fake = await startFakeOpenAI({ rules: [ANSWER] });
  const agent = agentOf(fake);
  const { messages } = await ask(agent, "Is it?");
  expect(messages.map(({ type }) => type)).toEqual(["TextMessage", "ThoughtEvent", "TextMessage"]);
  expect(messages.at(-1)).toMatchObject({ source: "helper", content: "It is so." });
  await ask(agent, "Really?");
  const [first, second] = bodies(fake);
  expect(first).toEqual({
    model: "gpt-5.6",
    input: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Is it?" },
    ],
    tools: DUMPED.tools,
    store: false,
    reasoning: { summary: "auto" },
    include: ["reasoning.encrypted_content"],
  });
  expect(itemsOf(second)).toEqual(["system", "user", "reasoning", "message", "user"]);
  expect(fake.requests.map(({ path, status }) => [path, status])).toEqual([
    ["/v1/responses", 200],
    ["/v1/responses", 200],
  ]);
});

describe("a state of AutoGen", () => {
  const history = [
    { role: "user", content: "My name is Ada." },
    { role: "assistant", content: "Hello Ada." },
  ];
  const stateOf = (response_id: string | null) => ({
    type: "OpenAIAgentState",
    response_id,
    history,
  });

  async function stored(fake: FakeOpenAI): Promise<string> {
    const response = await fetch(`${fake.url}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer key" },
      body: JSON.stringify({ model: "gpt-5.6", input: "My name is Ada.", store: true }),
    });
    return ((await response.json()) as { id: string }).id;
  }

  test("continues from its response once, and from then on with the whole conversation", async () => {
    await using fake = await startFakeOpenAI({ rules: [ANSWER] });
    const agent = agentOf(fake);
    const id = await stored(fake);
    fake.log.clear();
    agent.loadState(stateOf(id));
    expect(agent.saveState()).toMatchObject({ response_id: id, history });
    await ask(agent, "What is my name?");
    await ask(agent, "Again?");
    const [first, second] = bodies(fake);
    expect(first).toMatchObject({
      previous_response_id: id,
      store: false,
      input: [{ role: "user", content: "What is my name?" }],
    });
    expect(second).not.toHaveProperty("previous_response_id");
    expect(itemsOf(second)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
      "reasoning",
      "message",
      "user",
    ]);
    expect(fake.requests.map(({ status }) => status)).toEqual([200, 200]);
  });

  test("continues from its history where OpenAI has forgotten the response", async () => {
    await using fake = await startFakeOpenAI({ rules: [ANSWER] });
    const agent = agentOf(fake);
    agent.loadState(stateOf("resp_gone"));
    expect((await ask(agent, "What is my name?")).messages.at(-1)).toMatchObject({
      content: "It is so.",
    });
    expect(fake.requests.map(({ status }) => status)).toEqual([400, 200]);
    expect(bodies(fake)[1]).toMatchObject({
      input: [
        { role: "system", content: "Be brief." },
        ...history,
        { role: "user", content: "What is my name?" },
      ],
    });
  });

  test("continues from its history after a crash, too", async () => {
    await using fake = await startFakeOpenAI({ rules: [ANSWER] });
    const journal = new RecordingHost();
    const question: TextMessage = {
      id: "1",
      type: "TextMessage",
      source: "user",
      content: "What is my name?",
      models_usage: null,
      metadata: {},
      created_at: "2026-11-24T00:00:00Z",
    };
    for (const interruption of [{ during: "model" }, {}]) {
      const agent = agentOf(fake);
      agent.loadState(stateOf("resp_gone"));
      const { result, error } = await outcome(
        agent.onMessagesStream([question], journal.attempt(interruption)),
      );
      if (interruption.during === undefined)
        expect(result?.chatMessage, String(error)).toMatchObject({ content: "It is so." });
    }
    expect(fake.requests.map(({ status }) => status)).toEqual([400, 200, 200]);
  });

  test("is written so that AutoGen reads it, and read again with the reasoning", async () => {
    await using fake = await startFakeOpenAI({ rules: [ANSWER] });
    const agent = agentOf(fake);
    agent.loadState(stateOf(null));
    expect(agent.saveState()).toEqual(stateOf(null));
    await ask(agent, "Is it?");
    const state = agent.saveState();
    expect(state).toMatchObject({
      type: "OpenAIAgentState",
      response_id: null,
      history: [
        ...history,
        { role: "user", content: "Is it?" },
        { role: "assistant", content: "It is so." },
      ],
    });
    const other = agentOf(fake);
    other.loadState(state);
    await ask(other, "Go on.");
    expect(JSON.stringify(bodies(fake)[1])).toContain('encrypted_content":"');
    expect(() => other.loadState({ type: "AssistantAgentState" })).toThrow("OpenAIAgentState");
  });

  test("is gone after a reset", async () => {
    await using fake = await startFakeOpenAI({ rules: [ANSWER] });
    const agent = agentOf(fake);
    agent.loadState(stateOf("resp_1"));
    await agent.onReset({} as Parameters<OpenAIAgent["onReset"]>[0]);
    expect(agent.saveState()).toMatchObject({ response_id: null, history: [] });
  });
});

test("the agent uses an Azure or OpenAI client of its config with the Responses API", async () => {
  await using fake = await startFakeOpenAI({ rules: [ANSWER], apiKey: "azure" });
  const agent = agentOf(fake, {
    model: "gpt-4.1",
    json_mode: true,
    temperature: 0.5,
    max_output_tokens: 99,
    truncation: "auto",
    model_client: {
      provider: "autogen_ext.models.openai.AzureOpenAIChatCompletionClient",
      config: {
        model: "gpt-4o",
        azure_deployment: "ours",
        azure_endpoint: fake.origin,
        api_version: "2025-04-01-preview",
        api_key: "azure",
      },
    },
  });
  await ask(agent, "Answer in JSON.");
  expect(fake.requests[0]?.path).toBe("/openai/responses?api-version=2025-04-01-preview");
  expect(bodies(fake)[0]).toMatchObject({
    model: "ours",
    text: { format: { type: "json_object" } },
    temperature: 0.5,
    max_output_tokens: 99,
    truncation: "auto",
  });
  expect(agent.toConfig()).toMatchObject({
    model: "gpt-4.1",
    model_client: { config: { azure_deployment: "ours" } },
  });
});

test("the headers of an MCP server have the secrets that they refer to", async () => {
  await using fake = await startFakeOpenAI({ rules: [ANSWER] });
  const tool = {
    type: "mcp",
    server_label: "docs",
    server_url: "https://mcp.example.com/",
    headers: { authorization: "Bearer env:MCP_TOKEN" },
  };
  const agent = agentOf(fake, { tools: [tool] });
  await ask(agent, "Search.");
  expect(bodies(fake)[0]).toMatchObject({
    tools: [{ ...tool, headers: { authorization: "Bearer secret-of-mcp" } }],
  });
  expect(agent.toConfig()).toMatchObject({ tools: [tool] });
});

test("the agent loads AutoGen's dump, and is dumped in the same form", async () => {
  await using fake = await startFakeOpenAI();
  expect(agentOf(fake).toConfig()).toEqual(DUMPED);
  const named = agentOf(fake, { tools: ["web_search_preview", "web_search_preview"] });
  expect(named.toConfig()).toMatchObject({ tools: [{ type: "web_search_preview" }] });
});

test.each<[JsonObject, string, RegExp]>([
  [{ tools: ["file_search"] }, "tools[0]", /vector_store_ids/],
  [{ tools: ["browse"] }, "tools[0]", /web_search_preview/],
  [{ tools: ["web_search", { type: "mcp" }] }, "tools[1]", /server_label/],
  [{ tools: [{ name: "x" }] }, "tools[0]", /type/],
  [{ tools: [{ type: "function", name: "x" }] }, "tools[0]", /AssistantAgent/],
  [{ tools: ["local_shell"] }, "tools[0]", /codex-mini-latest/],
  [
    {
      model_client: {
        provider: "autogen_ext.models.anthropic.AnthropicChatCompletionClient",
        config: { model: "claude-sonnet-4-5" },
      },
    },
    "model_client",
    /OpenAIChatCompletionClient/,
  ],
])("%j is refused", async (config, place, message) => {
  await using fake = await startFakeOpenAI();
  expect(
    registryOf(fake).validate({ provider: PROVIDER, config: { ...DUMPED, ...config } }),
  ).toEqual([
    { path: `component.config.${place}`, message: expect.stringMatching(message) as string },
  ]);
});
