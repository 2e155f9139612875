import { zodResponseFormat } from "openai/helpers/zod";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import {
  Agent,
  aiTool,
  APICallError,
  APIError,
  ChatOpenAI,
  createOpenAI,
  generateText,
  OpenAI,
  OpenAIChatCompletionsModel,
  OpenAIProvider,
  OpenAIResponsesModel,
  OpenAIResponsesWSModel,
  Output,
  Runner,
  setTracingDisabled,
  streamText,
  tool,
} from "../../../peers/openai-clients.ts";
import { inTurn, newTeam, writer } from "../support/teams.ts";
import { runsOf, type Stage, startStage } from "./support/stage.ts";

// Clients and frameworks from npm, unmodified, with their own patience.

const place = z.object({ city: z.string() });
const look = z.object({ city: z.string() });

let stage: Stage;
let baseURL: string;
let count = 0;
let id: string;
let model: string;
let sockets: OpenAIResponsesWSModel[] = [];

beforeAll(async () => {
  setTracingDisabled(true);
  stage = await startStage();
  baseURL = `${await stage.worker.origin}/openai/v1`;
});

afterAll(() => stage[Symbol.asyncDispose]());

beforeEach(() => {
  id = `team${++count}`;
  model = `team:${id}`;
});

afterEach(async () => {
  await Promise.all(sockets.map((one) => one.close()));
  sockets = [];
});

const openai = (): OpenAI => new OpenAI({ baseURL, apiKey: "none" });
const langChain = (more: object = {}): ChatOpenAI =>
  new ChatOpenAI({ model, apiKey: "none", configuration: { baseURL }, ...more });
const aiSdk = () => createOpenAI({ baseURL, apiKey: "none" });
const agents = () => ({
  chat: new OpenAIChatCompletionsModel(openai(), model),
  responses: new OpenAIResponsesModel(openai(), model),
  "responses over a WebSocket": socketModel(),
});
const AGENT_APIS = ["chat", "responses", "responses over a WebSocket"] as const;

function socketModel(): OpenAIResponsesWSModel {
  const made = new OpenAIResponsesWSModel(openai(), model);
  sockets.push(made);
  return made;
}

/** What the model was asked last. */
function asked(): Record<string, unknown> {
  return stage.model.requests.at(-1)?.body as Record<string, unknown>;
}

describe("a structured answer", () => {
  beforeEach(async () => {
    stage.model.rules.set([{ name: "json", reply: { content: '{"city":"Vienna"}' } }]);
    await newTeam(stage.worker, { id, component: writer() });
  });

  const expectFormat = (name: unknown = expect.any(String)): void =>
    expect(asked()).toMatchObject({
      response_format: {
        type: "json_schema",
        json_schema: { name, schema: { properties: { city: { type: "string" } } } },
      },
    });

  test("is accepted by the official client", async () => {
    const completion = await openai().chat.completions.parse({
      model,
      messages: [{ role: "user", content: "Where?" }],
      response_format: zodResponseFormat(place, "place"),
    });
    expect(completion.choices[0]?.message.parsed).toEqual({ city: "Vienna" });
    expectFormat("place");
  });

  test.each(["jsonSchema", "jsonMode"] as const)(
    "is accepted by LangChain with %s",
    async (method) => {
      const answer = await langChain()
        .withStructuredOutput(place, { method, name: "place" })
        .invoke("Where? In JSON.");
      expect(answer).toEqual({ city: "Vienna" });
      if (method === "jsonSchema") expectFormat("place");
      else expect(asked()).toMatchObject({ response_format: { type: "json_object" } });
    },
  );

  test.each(["chat", "responses"] as const)("is accepted by the AI SDK over %s", async (api) => {
    const output = Output.object({ schema: place });
    const prompt = "Where?";
    const answer = await generateText({ model: aiSdk()[api](model), output, prompt });
    expect(answer.output).toEqual({ city: "Vienna" });
    expectFormat();
    const stream = streamText({ model: aiSdk()[api](model), output, prompt });
    expect(await stream.output).toEqual({ city: "Vienna" });
  });

  test.each(AGENT_APIS)("is accepted by Agents over %s", async (api) => {
    const agent = new Agent({ name: "caller", model: agents()[api], outputType: place });
    const { finalOutput } = await new Runner({ modelProvider: new OpenAIProvider() }).run(
      agent,
      "Where?",
    );
    expect(finalOutput).toEqual({ city: "Vienna" });
    expectFormat();
  });
});

describe("a choice of tools", () => {
  beforeEach(async () => {
    stage.model.rules.set([
      { name: "told", match: { role: "tool" }, reply: { content: "It is sunny." } },
      {
        name: "call",
        reply: { tool_calls: [{ id: "call_1", name: "look", arguments: { city: "Vienna" } }] },
      },
    ]);
    await newTeam(stage.worker, { id, component: writer() });
  });

  const tools = ["look", "wait"].map((name) => ({
    type: "function" as const,
    function: { name, parameters: z.toJSONSchema(look) },
  }));
  const messages = [{ role: "user" as const, content: "Weather?" }];
  const named = { type: "function" as const, function: { name: "look" } };

  test.each([
    ["required", "required", "required", 2],
    ["a function", named, named, 2],
    [
      "one that must be called",
      { type: "allowed_tools", allowed_tools: { mode: "required", tools: [named] } },
      "required",
      1,
    ],
    [
      "one that may be called",
      { type: "allowed_tools", allowed_tools: { mode: "auto", tools: [named] } },
      "auto",
      1,
    ],
  ] as [string, OpenAI.ChatCompletionToolChoiceOption, unknown, number][])(
    "reaches the model as %s",
    async (_, tool_choice, sent, offered) => {
      const { choices } = await openai().chat.completions.create({
        model,
        messages,
        tools,
        tool_choice,
        stop: [],
      });
      expect(choices[0]?.message.tool_calls).toMatchObject([{ function: { name: "look" } }]);
      const { tool_choice: told, tools: given } = asked();
      expect([told, (given as unknown[]).length]).toEqual([sent, offered]);
    },
  );

  test("is accepted from LangChain and the AI SDK", async () => {
    const chat = langChain().bindTools([{ name: "look", schema: look } as never], {
      tool_choice: "any",
    });
    expect((await chat.invoke("Weather?")).tool_calls).toMatchObject([{ name: "look" }]);
    expect(asked()["tool_choice"]).toBe("required");
    for (const api of ["chat", "responses"] as const) {
      id = `team${++count}`;
      model = `team:${id}`;
      await newTeam(stage.worker, { id, component: writer() });
      const { toolCalls } = await generateText({
        model: aiSdk()[api](model),
        tools: { look: aiTool({ inputSchema: look }) },
        toolChoice: "required",
        prompt: "Weather?",
      });
      expect(toolCalls).toMatchObject([{ toolName: "look", input: { city: "Vienna" } }]);
      expect(asked()["tool_choice"]).toBe("required");
    }
  });

  test.each(AGENT_APIS)("is accepted from Agents over %s", async (api) => {
    const agent = new Agent({
      name: "caller",
      model: agents()[api],
      modelSettings: { toolChoice: "look" },
      tools: [
        tool({ name: "look", description: "Looks.", parameters: look, execute: () => "sunny" }),
      ],
    });
    const { finalOutput } = await new Runner({ modelProvider: new OpenAIProvider() }).run(
      agent,
      "Weather?",
    );
    expect(finalOutput).toBe("It is sunny.");
    expect(await runsOf(stage.worker, id)).toHaveLength(1);
  });

  test.each([
    ["tool_choice", { tool_choice: "required" }],
    ["tool_choice", { tools, tool_choice: { type: "function", function: { name: "other" } } }],
    ["response_format", { response_format: { type: "json_schema" } }],
    ["stop", { stop: ["a", "b", "c", "d", "e"] }],
  ])("is refused with a wrong %s", async (param, more) => {
    const refused = openai().chat.completions.create({ model, messages, ...more } as never);
    await expect(refused).rejects.toMatchObject({
      status: 400,
      param: expect.stringMatching(new RegExp(`^${param}`)),
    });
    expect(await runsOf(stage.worker, id)).toEqual([]);
  });
});

test("Agents stream several answers over one WebSocket", async () => {
  stage.model.rules.set([{ name: "said", reply: { content: "Four little words here." } }]);
  await newTeam(stage.worker, { id, component: writer() });
  const agent = new Agent({ name: "caller", model: socketModel() });
  const runner = new Runner({ modelProvider: new OpenAIProvider() });
  for (const task of ["Write.", "Again."]) {
    const run = await runner.run(agent, task, { stream: true });
    let text = "";
    for await (const piece of run.toTextStream()) text += piece;
    expect(text).toBe("Four little words here.");
  }
  expect(await runsOf(stage.worker, id)).toHaveLength(2);
});

test("a team whose answer does not come from one agent refuses parameters that no model would get", async () => {
  const component = inTurn(writer({ name: "first" }), writer());
  await newTeam(stage.worker, { id, component });
  const messages = [{ role: "user" as const, content: "Where?" }];
  const response_format = zodResponseFormat(place, "place");
  await expect(
    openai().chat.completions.create({ model, messages, response_format }),
  ).rejects.toMatchObject({
    status: 400,
    code: "unsupported_parameter",
    param: "response_format",
  });
  await expect(
    openai().responses.create({ model, input: "?", text: { format: { type: "json_object" } } }),
  ).rejects.toMatchObject({ status: 400, param: "text.format" });
  expect(await runsOf(stage.worker, id)).toEqual([]);
});

describe("a run that fails is not repeated", () => {
  beforeEach(async () => {
    stage.model.rules.set([
      { name: "fail", fault: { kind: "status", status: 401, message: "Wrong key." } },
    ]);
    await newTeam(stage.worker, { id, component: writer() });
  });

  const clients: [string, () => Promise<unknown>][] = [
    [
      "openai, chat",
      () =>
        openai().chat.completions.create({ model, messages: [{ role: "user", content: "Go." }] }),
    ],
    [
      "openai, chat as a stream",
      () =>
        openai()
          .chat.completions.stream({ model, messages: [{ role: "user", content: "Go." }] })
          .finalContent(),
    ],
    ["openai, responses", () => openai().responses.create({ model, input: "Go." })],
    ["LangChain, chat", () => langChain().invoke("Go.")],
    ["LangChain, responses", () => langChain({ useResponsesApi: true }).invoke("Go.")],
    ["the AI SDK, chat", () => generateText({ model: aiSdk().chat(model), prompt: "Go." })],
    ["the AI SDK, responses", () => generateText({ model: aiSdk()(model), prompt: "Go." })],
    ...AGENT_APIS.map((api): [string, () => Promise<unknown>] => [
      `Agents, ${api}`,
      () => runAgent(api),
    ]),
  ];

  function runAgent(api: (typeof AGENT_APIS)[number]): Promise<unknown> {
    const agent = new Agent({ name: "caller", model: agents()[api] });
    return new Runner({ modelProvider: new OpenAIProvider() }).run(agent, "Go.");
  }

  test.each(clients)("if its client is %s", async (_, call) => {
    const error: unknown = await call().catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(Error);
    if (error instanceof APIError && error.status !== undefined) {
      expect(error).toMatchObject({
        status: 400,
        code: "model_auth",
        type: "authentication_error",
      });
      expect(error.headers?.get("x-should-retry")).toBe("false");
    }
    if (APICallError.isInstance(error)) expect(error.statusCode).toBe(400);
    expect(await runsOf(stage.worker, id)).toHaveLength(1);
  });
});
