import { describe, expect, test } from "vitest";
import {
  AssistantAgent,
  type AssistantAgentOptions,
  Catalog,
  ComponentRegistry,
  coreComponents,
  FunctionTool,
  OpenAIEmbeddingClient,
  RoundRobinGroupChat,
  run,
  StaticWorkbench,
  VectorMemory,
  withApproval,
} from "troupe";
import * as z from "zod";
import { textTokens } from "#core/models/tokens/estimate.ts";
import {
  ScriptedChatCompletionClient,
  type ScriptedReply,
} from "#testing/scripted-chat-completion-client.ts";
import { startEmbeddingServer } from "../../../support/embedding-server.ts";
import { OpenAIPromptCache } from "../../../support/fake-openai/prompt-cache.ts";
import { outcome, RecordingHost } from "../../support/recording-host.ts";
import { MANY_TOOLS, TOOL_QUESTIONS } from "./support/many-tools.ts";

const calls: string[] = [];

function toolsOf(listed = MANY_TOOLS): FunctionTool[] {
  return listed.map(
    ({ server, name, description, parameters }) =>
      new FunctionTool({
        name,
        description,
        parameters: z.object(
          Object.fromEntries(
            parameters.map((one) => [
              one,
              z.string().optional().describe(`The ${one} for ${server}.`),
            ]),
          ),
        ),
        execute: (args) => {
          calls.push(name);
          return `${name} ${JSON.stringify(args)}`;
        },
      }),
  );
}

const called = (name: string, args: object = {}) => [
  { id: "call", name, arguments: JSON.stringify(args) },
];
const searched = (query: string) => called("search_tools", { query });

function agentOf(
  replies: readonly ScriptedReply[],
  options: Partial<AssistantAgentOptions> = {},
): { agent: AssistantAgent; model: ScriptedChatCompletionClient } {
  const model = new ScriptedChatCompletionClient(replies);
  const agent = new AssistantAgent({
    name: "helper",
    modelClient: model,
    tools: toolsOf(),
    toolSearch: true,
    ...options,
  });
  return { agent, model };
}

/** The names in each request to the model. */
const offersTo = (model: ScriptedChatCompletionClient): string[][] =>
  model.requests.map(({ options }) => (options.tools ?? []).map(({ name }) => name));

describe("an agent with a tool search", () => {
  test("is offered all of its tools and no search while it has 20", async () => {
    const { agent, model } = agentOf(["Done."], { tools: toolsOf(MANY_TOOLS.slice(0, 20)) });
    await agent.run("Help.");
    expect(offersTo(model)).toEqual([MANY_TOOLS.slice(0, 20).map(({ name }) => name)]);
  });

  test("is offered the tools it always has and the search, and then what it has found", async () => {
    const { agent, model } = agentOf(
      [searched("refund a payment"), called("stripe_refund_payment"), "unused"],
      { toolSearch: { always: ["read_file"], k: 2 }, handoffs: ["boss"] },
    );
    const { text } = await agent.run("Refund it.");
    const [first, second] = offersTo(model);
    expect(first).toEqual(["read_file", "search_tools", "transfer_to_boss"]);
    expect(second).toEqual([...first!, "stripe_refund_payment", expect.any(String)]);
    expect(text).toBe("stripe_refund_payment {}");
  });

  test("may search before it uses its one round of calls, and a round that calls another tool counts", async () => {
    const { agent, model } = agentOf([
      searched("weather forecast"),
      searched("send a text message to a phone"),
      called("twilio_send_sms", { to: "1" }),
    ]);
    const { text, messages } = await agent.run("Tell her.");
    expect(text).toBe('twilio_send_sms {"to":"1"}');
    expect(messages.filter(({ type }) => type === "ToolCallExecutionEvent")).toHaveLength(3);
    model.assertDone();
  });

  test("counts searches as rounds after ten of them in one answer", async () => {
    const { agent, model } = agentOf(Array.from({ length: 11 }, () => searched("xyzzy qwfp")));
    const { text } = await agent.run("Search.");
    expect(model.requests).toHaveLength(11);
    expect(text).toContain("None of 200 tools matches");
  });

  test("keeps what it has found to the end of the run, in the order of finding, and no longer", async () => {
    const model = new ScriptedChatCompletionClient([
      searched("refund a payment"),
      "One.",
      searched("weather forecast"),
      "Two.",
      "Another run.",
      "Its second turn.",
    ]);
    const agent = new AssistantAgent({
      name: "helper",
      modelClient: model,
      tools: toolsOf(),
      toolSearch: { k: 1 },
    });
    const team = new RoundRobinGroupChat([agent], { maxTurns: 2 });
    await run(team, "Go on.");
    await run(team, "Again.");
    expect(offersTo(model)).toEqual([
      ["search_tools"],
      ["search_tools", "stripe_refund_payment"],
      ["search_tools", "stripe_refund_payment"],
      ["search_tools", "stripe_refund_payment", "weather_forecast"],
      ["search_tools"],
      ["search_tools"],
    ]);
  });

  test("may call a tool that it knows without a search, which is offered from then on", async () => {
    const { agent, model } = agentOf([called("pg_query", { sql: "select 1" }), "Done."], {
      maxToolIterations: 2,
    });
    await agent.run("Query.");
    expect(offersTo(model)).toEqual([["search_tools"], ["search_tools", "pg_query"]]);
  });

  test("calls a found tool under its override, and asks a human where the tool needs approval", async () => {
    const [refund, ...others] = toolsOf().toSorted(
      (a, b) =>
        Number(b.name === "stripe_refund_payment") - Number(a.name === "stripe_refund_payment"),
    );
    const { agent, model } = agentOf([searched("give money back"), called("give_money_back")], {
      tools: undefined,
      workbench: new StaticWorkbench([withApproval(refund!), ...others], {
        toolOverrides: { stripe_refund_payment: { name: "give_money_back" } },
      }),
      toolSearch: { k: 1 },
    });
    const asked: unknown[] = [];
    const { text } = await run(agent, {
      task: "Refund.",
      answer: (question) => {
        asked.push(question.toolCall?.name);
        return Promise.resolve({ approved: false, reason: "Too much." });
      },
    });
    expect(offersTo(model)[1]).toEqual(["search_tools", "give_money_back"]);
    expect(asked).toHaveLength(1);
    expect(text).toContain("Too much.");
  });

  test("names a tool that it should always have and does not have", async () => {
    const { agent } = agentOf(["Done."], { toolSearch: { always: ["no_such_tool"] } });
    const host = new RecordingHost();
    await outcome(agent.onMessagesStream([], host.attempt({})));
    expect(host.notes).toContain(
      'tool_search.always names "no_such_tool", which is not a tool of the agent',
    );
  });

  test("has the setting in its component JSON, and refuses others with the key and what is allowed", () => {
    const registry = new ComponentRegistry().register(...coreComponents(new Catalog()));
    const { agent } = agentOf([], { tools: [], toolSearch: { always: ["a"], k: 4 } });
    expect(agent.toConfig()).toMatchObject({ tool_search: { always: ["a"], k: 4 } });
    expect(agentOf([], { tools: [] }).agent.toConfig()).toMatchObject({ tool_search: true });
    const config = {
      name: "helper",
      model_client: { provider: "ReplayChatCompletionClient", config: { chat_completions: [] } },
    };
    const load = (tool_search: unknown) =>
      registry.load({ provider: "AssistantAgent", config: { ...config, tool_search } });
    expect(() => load({ k: 0 })).toThrow(/tool_search/);
    expect(() => load({ top: 3 })).toThrow(/tool_search/);
    expect(() => load("yes")).toThrow(/tool_search/);
  });
});

test("a turn that is interrupted after a search finds and offers the same, without another search", async () => {
  const make = () =>
    agentOf([
      (request) => {
        const rounds = request.messages.filter(
          ({ type }) => type === "FunctionExecutionResultMessage",
        ).length;
        return rounds === 0 ? searched("refund a payment") : called("stripe_refund_payment");
      },
      () => called("stripe_refund_payment"),
    ]).agent;
  const calm = await outcome(make().onMessagesStream([], new RecordingHost().attempt({})));
  for (const afterSteps of [0, 1, 2, 3]) {
    const host = new RecordingHost();
    await outcome(make().onMessagesStream([], host.attempt({ afterSteps })));
    const again = await outcome(make().onMessagesStream([], host.attempt({})));
    expect(again.result).toEqual(calm.result);
  }
});

describe("the search among 200 tools of 40 servers", () => {
  test("costs at most 6 % of the tokens of all schemas, and finds the tool among the first eight in 95 % of 150 questions", async () => {
    const { agent, model } = agentOf(
      TOOL_QUESTIONS.flatMap(({ query }) => [searched(query), "Found."]),
    );
    const missed: string[] = [];
    for (const { query, tool } of TOOL_QUESTIONS) {
      const { messages } = await agent.run(query);
      const result = messages.find(({ type }) => type === "ToolCallExecutionEvent");
      if (!JSON.stringify(result).includes(`- ${tool}:`)) missed.push(`${query} (${tool})`);
    }
    expect(MANY_TOOLS).toHaveLength(200);
    expect(TOOL_QUESTIONS).toHaveLength(150);
    expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(7);
    const tokens = (tools: unknown): number => textTokens(JSON.stringify(tools));
    const all = tokens(toolsOf().map(({ schema }) => schema));
    expect(tokens(model.requests[0]?.options.tools) / all).toBeLessThan(0.06);
  });
});

describe("the prefix of requests in a conversation of 50 turns, of which five search", () => {
  /** The share of all tokens that a cache of prompts like OpenAI's has. */
  const cachedShare = (model: ScriptedChatCompletionClient): number => {
    const cache = new OpenAIPromptCache();
    const uses = model.requests.map(({ messages, options }) =>
      cache.use({ model: "gpt-4o", tools: options.tools, messages }, 0),
    );
    const sum = (of: "prompt" | "read"): number => uses.reduce((all, use) => all + use[of], 0);
    return sum("read") / sum("prompt");
  };
  const always = MANY_TOOLS.slice(0, 30).map(({ name }) => name);
  const replies = Array.from({ length: 50 }, (_, turn): ScriptedReply[] => [
    ...(turn % 10 === 2 ? [searched(TOOL_QUESTIONS[turn]!.query)] : []),
    `An answer of some words, which is number ${turn}.`,
  ]).flat();

  test("is cached for at least 90 % in one run", async () => {
    const { agent, model } = agentOf(replies, { toolSearch: { always } });
    await run(new RoundRobinGroupChat([agent], { maxTurns: 50 }), "Go on.");
    expect(cachedShare(model)).toBeGreaterThan(0.9);
  });

  test("is cached for at least 90 % in a run for each turn", async () => {
    const { agent, model } = agentOf(replies, { toolSearch: { always } });
    const team = new RoundRobinGroupChat([agent], { maxTurns: 1 });
    for (let turn = 0; turn < 50; turn++) await run(team, `Question ${turn}.`);
    expect(cachedShare(model)).toBeGreaterThan(0.9);
  });
});

describe("an agent that has an embedding client in a memory", () => {
  test("finds tools by their meaning, too, embeds their texts once, and counts the tokens", async () => {
    await using server = await startEmbeddingServer();
    const embedding = new OpenAIEmbeddingClient({
      model: "text-embedding-3-small",
      apiKey: "key",
      baseURL: server.url,
    });
    const { agent } = agentOf(
      [searched("weather forecast"), "One.", searched("refund a payment"), "Two."],
      { memory: [new VectorMemory({ embedding })], maxToolIterations: 2 },
    );
    const first = await agent.run("Forecast.");
    const [, ...texts] = server.requests.flatMap(({ input }) => input);
    expect(texts.length).toBeGreaterThanOrEqual(200);
    expect(JSON.stringify(first.messages)).toContain("- weather_forecast:");
    const before = server.requests.flatMap(({ input }) => input).length;
    await agent.run("Refund.");
    expect(server.requests.flatMap(({ input }) => input).slice(before)).not.toContain(texts[5]);
  });

  test("finds tools by words alone while the server refuses, and says so", async () => {
    await using server = await startEmbeddingServer();
    server.misbehave({ status: 400 });
    const embedding = new OpenAIEmbeddingClient({
      model: "text-embedding-3-small",
      apiKey: "key",
      baseURL: server.url,
    });
    const { agent } = agentOf([searched("weather forecast"), "Done."], {
      memory: [new VectorMemory({ embedding })],
    });
    const { messages, notes } = await run(agent, "Forecast.");
    expect(JSON.stringify(messages)).toContain("- weather_forecast:");
    expect(notes).toContainEqual(expect.stringContaining("Tools were searched by words only"));
  });
});
