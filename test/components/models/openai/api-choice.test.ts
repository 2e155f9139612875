import { describe, expect, test } from "vitest";
import {
  type AssistantMessage,
  AzureOpenAIChatCompletionClient,
  type CreateResult,
  type LLMMessage,
  OpenAIChatCompletionClient,
  type OpenAIChatCompletionClientOptions,
} from "troupe";
import type { RuleInput } from "../../../support/fake-openai/rule.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { assistant, collect, toolResult, user } from "../support.ts";

const add = { name: "add", parameters: { type: "object", properties: {} } };
const CALL: RuleInput = {
  name: "call",
  match: { role: "user" },
  reply: { reasoning: "I must add.", tool_calls: [{ id: "c1", name: "add" }] },
};

type Way = "whole" | "streamed";
const WAYS: Way[] = ["whole", "streamed"];

interface Asking {
  create: OpenAIChatCompletionClient["create"];
  createStream: OpenAIChatCompletionClient["createStream"];
}

async function ask(
  client: Asking,
  way: Way,
  messages: readonly LLMMessage[] = [user("Hi")],
): Promise<CreateResult> {
  const options = { tools: [add] };
  return way === "whole"
    ? client.create(messages, options)
    : (await collect(client.createStream(messages, options))).result;
}

/** A client whose server stands in for OpenAI's own. */
function ownClient(
  fake: FakeOpenAI,
  options: Partial<OpenAIChatCompletionClientOptions> = {},
  key = "key",
): OpenAIChatCompletionClient {
  const env = { OPENAI_BASE_URL: fake.url, OPENAI_API_KEY: key } as Record<string, string>;
  return new OpenAIChatCompletionClient(
    { model: "gpt-5.6", ...options },
    { env: (name) => env[name] },
  );
}

/** A client of a server that its config names. */
const otherClient = (fake: FakeOpenAI, options: Partial<OpenAIChatCompletionClientOptions> = {}) =>
  ownClient(fake, {
    baseURL: `${fake.origin}/v1/`.replace("127.0.0.1", "localhost"),
    apiKey: "key",
    ...options,
  });

const paths = (fake: FakeOpenAI): string[] =>
  fake.requests.map(({ path, status }) => `${path} ${status}`);

const conversation = (result: CreateResult): LLMMessage[] => [
  user("Hi"),
  {
    ...assistant(result.content, result.thought ?? null),
    ...(result.troupe && { troupe: result.troupe }),
  },
  toolResult("c1", "3"),
];

describe.each(WAYS)("the choice of an API by %s", (way) => {
  test.each<[string, Partial<OpenAIChatCompletionClientOptions>, "responses" | "chat/completions"]>(
    [
      ["gpt-5.6", { model: "gpt-5.6" }, "responses"],
      ["a dated gpt-5.5", { model: "gpt-5.5-2026-04-23" }, "responses"],
      ["gpt-6.1", { model: "gpt-6.1-sol" }, "responses"],
      ["gpt-5.4 with an effort", { model: "gpt-5.4", reasoningEffort: "high" }, "responses"],
      ["a model of that API alone", { model: "gpt-5-pro" }, "responses"],
      ["gpt-5.4", { model: "gpt-5.4" }, "chat/completions"],
      [
        "gpt-5.4 with effort none",
        { model: "gpt-5.4", reasoningEffort: "none" },
        "chat/completions",
      ],
      [
        "gpt-5.6 with effort none",
        { model: "gpt-5.6", reasoningEffort: "none" },
        "chat/completions",
      ],
      ["gpt-5.2 with an effort", { model: "gpt-5.2", reasoningEffort: "high" }, "chat/completions"],
      ["gpt-4o", { model: "gpt-4o" }, "chat/completions"],
      ["gpt-4o, told so", { model: "gpt-4o", api: "responses" }, "responses"],
      ["o3, told so", { model: "o3", api: "chat_completions" }, "chat/completions"],
    ],
  )("gives %s the right one at once", async (_, options, api) => {
    await using fake = await startFakeOpenAI({ rules: [CALL] });
    const client = ownClient(fake, options);
    const result = await ask(client, way);
    expect(result.finish_reason).toBe("function_calls");
    expect(await ask(client, way, conversation(result))).toMatchObject({ finish_reason: "stop" });
    expect(paths(fake)).toEqual([`/v1/${api} 200`, `/v1/${api} 200`]);
  });

  test("leaves another server at chat completions until it names the other API", async () => {
    await using fake = await startFakeOpenAI({ rules: [CALL] });
    const client = otherClient(fake);
    const result = await ask(client, way);
    await ask(client, way, conversation(result));
    await ask(otherClient(fake), way);
    expect(paths(fake)).toEqual([
      "/v1/chat/completions 400",
      "/v1/responses 200",
      "/v1/responses 200",
      "/v1/responses 200",
    ]);
  });

  test("recognises the refusal by its status and the API that it names, in whatever words and wherever", async () => {
    const fault = {
      kind: "status",
      status: 400,
      body: '{"detail":["see /v1/responses"]}',
    } as const;
    await using fake = await startFakeOpenAI({
      rules: [{ name: "refused", times: 1, fault }, CALL],
    });
    await ask(otherClient(fake, { model: "gpt-4o" }), way);
    expect(paths(fake)).toEqual(["/v1/chat/completions 400", "/v1/responses 200"]);
  });

  test("gives an attempt with the other API another idempotency key", async () => {
    await using fake = await startFakeOpenAI({ rules: [CALL] });
    const options = { tools: [add], idempotencyKey: "step" };
    const client = otherClient(fake);
    await (way === "whole"
      ? client.create([user("Hi")], options)
      : collect(client.createStream([user("Hi")], options)));
    expect(fake.requests.map((request) => request.idempotency_key)).toEqual(["step", "step-1"]);
  });

  test.each([404, 405, 501] as const)(
    "moves a server that answers %i to /responses to chat completions, in the same step and later",
    async (withoutResponses) => {
      await using fake = await startFakeOpenAI({ withoutResponses });
      const client = ownClient(fake, { model: "gpt-5.4", reasoningEffort: "medium" });
      await (way === "whole"
        ? client.create([user("Hi")])
        : collect(client.createStream([user("Hi")])));
      await client.create([user("Hi")]);
      expect(paths(fake)).toEqual([
        `/v1/responses ${withoutResponses}`,
        "/v1/chat/completions 200",
        "/v1/chat/completions 200",
      ]);
    },
  );

  test("ends with the last refusal if both APIs refuse", async () => {
    await using fake = await startFakeOpenAI({ withoutResponses: 404 });
    await expect(ask(ownClient(fake), way)).rejects.toMatchObject({
      kind: "bad_request",
      message: expect.stringContaining("/v1/responses") as string,
    });
    expect(fake.requests).toHaveLength(2);
    await expect(ask(ownClient(fake, { api: "responses" }), way)).rejects.toMatchObject({
      status: 404,
    });
    expect(fake.requests).toHaveLength(3);
    await expect(ask(ownClient(fake, { api: "chat_completions" }), way)).rejects.toMatchObject({
      status: 400,
    });
    expect(fake.requests).toHaveLength(4);
  });

  test("ends with the refusal of a server that names an API which it does not have", async () => {
    await using fake = await startFakeOpenAI({ withoutResponses: 404 });
    await expect(ask(otherClient(fake), way)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining("reasoning_effort to 'none'") as string,
    });
    expect(fake.requests.map(({ status }) => status)).toEqual([400, 404]);
  });

  test("ignores a refusal that is not about the API", async () => {
    const body = JSON.stringify({ error: { message: "No.", param: "reasoning.summary" } });
    const fault = { kind: "status", status: 400, body } as const;
    await using fake = await startFakeOpenAI({ rules: [{ name: "no", times: 1, fault }, CALL] });
    await ask(ownClient(fake, { model: "gpt-5.4", reasoningEffort: "low" }), way);
    await ask(ownClient(fake, { model: "gpt-5.4" }), way);
    expect(fake.requests.map(({ path }) => path)).toEqual([
      "/v1/responses",
      "/v1/responses",
      "/v1/chat/completions",
    ]);
  });

  test("handles two concurrent requests that are both refused for unsupported fields", async () => {
    const body = JSON.stringify({ error: { message: "No.", param: "reasoning.summary" } });
    const fault = { kind: "status", status: 400, body } as const;
    await using fake = await startFakeOpenAI({
      rules: [{ name: "no", times: 2, hold: true, fault }, CALL],
    });
    const client = ownClient(fake);
    const asked = Promise.all([ask(client, way), ask(client, way)]);
    await fake.held("no", 2);
    fake.release("no");
    await asked;
    expect(fake.requests.map(({ status }) => status)).toEqual([400, 400, 200, 200]);
  });

  test.each([
    ["2025-04-01-preview", "/openai/responses?api-version=2025-04-01-preview"],
    ["2024-10-21", "/openai/v1/responses"],
  ])("follows the version %s on Azure", async (apiVersion, path) => {
    await using fake = await startFakeOpenAI({ rules: [CALL], apiKey: "azure" });
    const client = new AzureOpenAIChatCompletionClient({
      model: "gpt-5.6",
      azureEndpoint: fake.origin,
      azureDeployment: "gpt-5.6-ours",
      apiVersion,
      apiKey: "azure",
    });
    const result = await ask(client, way);
    expect(result.troupe).toMatchObject({ maker: "azure.ai.openai" });
    await ask(client, way, conversation(result));
    expect(paths(fake)).toEqual([`${path} 200`, `${path} 200`]);
    expect(fake.requests[0]).toMatchObject({
      headers: { "api-key": "azure" },
      body: { model: "gpt-5.6-ours" },
    });
  });

  test("drops reasoning of another account: the request succeeds without it, and later ones at once", async () => {
    await using fake = await startFakeOpenAI({ rules: [CALL] });
    const result = await ask(ownClient(fake), way);
    const messages = conversation(result);
    const other = ownClient(fake, {}, "other key");
    const note = "asked without the reasoning of earlier answers that the server refused";
    expect(await ask(other, way, messages)).toMatchObject({ finish_reason: "stop", note });
    expect(await ask(other, way, [...messages, user("And now?")])).toMatchObject({ note });
    expect(paths(fake)).toEqual([
      "/v1/responses 200",
      "/v1/responses 400",
      "/v1/responses 200",
      "/v1/responses 200",
    ]);
    const body = fake.requests[2]?.body as { input: { type?: string; id?: string }[] } | undefined;
    expect(body?.input.map(({ type, id }) => [type, id])).toEqual([
      [undefined, undefined],
      ["function_call", undefined],
      ["function_call_output", undefined],
    ]);
  });

  test("drops reasoning of another maker, and the result says so", async () => {
    await using fake = await startFakeOpenAI({ rules: [CALL] });
    const client = ownClient(fake);
    const own = await ask(client, way);
    expect(own).not.toHaveProperty("note");
    const [asked, called, done] = conversation(own) as [LLMMessage, AssistantMessage, LLMMessage];
    const troupe = { maker: "anthropic", model: "claude-sonnet-4-5", data: { blocks: [] } };
    expect(await ask(client, way, [asked, { ...called, troupe }, done])).toMatchObject({
      finish_reason: "stop",
      note: "asked without the reasoning of earlier answers that another maker's model gave",
    });
  });

  test.each(["missing", "changed", "cut"])("drops reasoning whose content is %s", async (what) => {
    await using fake = await startFakeOpenAI({ rules: [CALL] });
    const client = ownClient(fake);
    const [asked, called, done] = conversation(await ask(client, way)) as [
      LLMMessage,
      AssistantMessage,
      LLMMessage,
    ];
    const { troupe } = called;
    if (troupe === undefined) throw new Error("nothing is kept for the maker");
    const items = (troupe.data as { items: { type: string; [key: string]: string }[] }).items;
    const reasoning = items.find(({ type }) => type === "reasoning") ?? { type: "" };
    if (what === "missing") delete reasoning["encrypted_content"];
    if (what === "changed") reasoning["encrypted_content"] = "gAAAAbc";
    if (what === "cut") items.splice(0, 1);
    const message = { ...called, troupe: { ...troupe, data: { items } } };
    expect(await ask(client, way, [asked, message, done])).toMatchObject({ finish_reason: "stop" });
    expect(fake.requests.map(({ status }) => status)).toEqual([
      200,
      what === "missing" ? 404 : 400,
      200,
    ]);
  });

  test("asks an organization that gets no summaries only once for them", async () => {
    const body = JSON.stringify({
      error: {
        message: "Your organization must be verified to generate reasoning summaries.",
        type: "invalid_request_error",
        param: "reasoning.summary",
        code: "unsupported_value",
      },
    });
    const fault = { kind: "status", status: 400, body } as const;
    await using fake = await startFakeOpenAI({ rules: [{ name: "no", times: 1, fault }, CALL] });
    const client = ownClient(fake);
    expect(await ask(client, way)).toMatchObject({ finish_reason: "function_calls" });
    await ask(client, way);
    const asked = fake.requests.map(
      (request) => (request.body as { reasoning?: object }).reasoning,
    );
    expect(asked).toEqual([{ summary: "auto" }, undefined, undefined]);
    // Another organization may get them.
    await ask(ownClient(fake, {}, "other key"), way);
    expect(fake.requests.at(-1)?.body).toMatchObject({ reasoning: { summary: "auto" } });
  });
});

test("a refusal in the middle of a stream that has shown nothing yet changes the API", async () => {
  const fault = {
    kind: "error_event",
    after_chunks: 1,
    code: "invalid_encrypted_content",
    message: "The encrypted content for item rs_1 could not be verified.",
  } as const;
  await using fake = await startFakeOpenAI({ rules: [CALL] });
  const client = ownClient(fake);
  const messages = conversation(await ask(client, "streamed"));
  fake.rules.add([{ name: "late", times: 1, fault }]);
  expect(await ask(client, "streamed", messages)).toMatchObject({ finish_reason: "stop" });
  expect(fake.requests).toHaveLength(3);
});

test("a request that fails for another reason is made once", async () => {
  const fault = { kind: "status", status: 400, message: "Bad temperature." } as const;
  await using fake = await startFakeOpenAI({ rules: [{ name: "bad", fault }] });
  await expect(ask(ownClient(fake), "whole")).rejects.toMatchObject({ kind: "bad_request" });
  expect(fake.requests).toHaveLength(1);
});

test("an error that another attempt cannot fix is recognized in the middle of a stream too", async () => {
  const fault = {
    kind: "error_event",
    after_chunks: 2,
    code: "invalid_prompt",
    message: "No.",
  } as const;
  await using fake = await startFakeOpenAI({
    rules: [{ name: "bad", reply: { words: 9 }, fault }],
  });
  await expect(ask(ownClient(fake), "streamed")).rejects.toMatchObject({
    kind: "bad_request",
    retryable: false,
  });
});
