import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject, LLMMessage } from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import {
  assistant,
  clientOf,
  customInfo,
  lastBody,
  system,
  toolResult,
  user,
} from "../../support.ts";

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI();
});
afterAll(() => fake.close());

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const JPEG = "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////";

const call = { id: "c1", name: "add", arguments: '{"a":1}' };
const add = {
  name: "add",
  description: "Adds.",
  parameters: {
    type: "object",
    properties: { a: { type: "number" } },
    required: ["a"],
    additionalProperties: false,
  },
};

describe("the messages of a request", () => {
  async function sent(
    messages: readonly LLMMessage[],
    config: Parameters<typeof clientOf>[1] = {},
  ): Promise<unknown[]> {
    await clientOf(fake, config).create(messages);
    return lastBody(fake).messages;
  }

  test("have the API's form for each kind", async () => {
    const messages = [
      system("Be kind."),
      user("Add 1.", "Anna Müller"),
      assistant([call]),
      toolResult("c1", "2"),
      assistant([{ ...call, id: "c2" }], "once more"),
      toolResult("c2", "3"),
      assistant("It is 3.", "I thought"),
      user("Thanks."),
    ];
    expect(await sent(messages)).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", name: "Anna_M_ller", content: "Add 1." },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } },
        ],
      },
      { role: "tool", tool_call_id: "c1", content: "2" },
      {
        role: "assistant",
        content: "once more",
        tool_calls: [
          { id: "c2", type: "function", function: { name: "add", arguments: '{"a":1}' } },
        ],
      },
      { role: "tool", tool_call_id: "c2", content: "3" },
      { role: "assistant", content: "It is 3." },
      { role: "user", name: "user", content: "Thanks." },
    ]);
  });

  test("contain pictures with the media type that they really have", async () => {
    const [message] = await sent([user(["Look:", { data: PNG }, { data: JPEG }])]);
    expect(message).toMatchObject({
      content: [
        { type: "text", text: "Look:" },
        { image_url: { url: `data:image/png;base64,${PNG}`, detail: "auto" } },
        { image_url: { url: `data:image/jpeg;base64,${JPEG}` } },
      ],
    });
  });

  test("that contain a picture for a model that cannot see are refused before anything is sent", async () => {
    const before = fake.requests.length;
    const blind = { model: "some-model", modelInfo: customInfo };
    await expect(clientOf(fake, blind).create([user([{ data: PNG }])])).rejects.toThrow(
      "model_info.vision",
    );
    expect(fake.requests.length).toBe(before);
  });

  test("have names in front of texts and not in the field, if so configured", async () => {
    const config = { includeNameInMessage: false, addNamePrefixes: true };
    expect(await sent([user("Hi", "anna"), user(["A", "B"], "ben")], config)).toEqual([
      { role: "user", content: "anna said:\nHi" },
      {
        role: "user",
        content: [
          { type: "text", text: "ben said:\nA" },
          { type: "text", text: "B" },
        ],
      },
    ]);
  });

  test("have names in front of texts for Gemini, too", async () => {
    const config = {
      model: "gemini-2.0-flash",
      includeNameInMessage: false,
      addNamePrefixes: true,
    };
    expect(await sent([user("Hi", "anna")], config)).toEqual([
      { role: "user", content: "anna said:\nHi" },
    ]);
  });

  test("contain one system message for several in a row if the model accepts only one", async () => {
    const config = { model: "gemini-2.0-flash" };
    const messages = [system("A"), system("B\n"), user("Hi")];
    expect(await sent(messages, config)).toMatchObject([
      { role: "system", content: "A\nB" },
      { role: "user" },
    ]);
    expect(await sent([system(" A \n\x1c"), user("Hi")], config)).toMatchObject([
      { role: "system", content: " A" },
      { role: "user" },
    ]);
    expect(await sent([system("A"), user("Hi"), system("B")], config)).toEqual([
      { role: "system", content: "A" },
      { role: "user", name: "user", content: "Hi" },
      { role: "user", name: "system", content: "B" },
    ]);
    expect(await sent([system("A"), user("Hi"), system("B\n")])).toMatchObject([
      { content: "A" },
      { content: "Hi" },
      { content: "B\n" },
    ]);
  });

  test("contain empty texts in the form that models of other makers accept", async () => {
    const empty = [
      system(""),
      user("Hi"),
      assistant(""),
      assistant([call], ""),
      toolResult("c1", "2"),
    ];
    const contents = async (model: string) =>
      (
        await sent(empty, { model, modelInfo: { ...customInfo, multipleSystemMessages: true } })
      ).map((message) => (message as { content: unknown }).content);
    expect(await contents("gpt-4o")).toEqual(["", "Hi", "", "", "2"]);
    expect(await contents("gemini-2.0-flash")).toEqual([" ", "Hi", " ", "Continue.", " ", "2"]);
    expect(await contents("claude-3-5-haiku")).toEqual([" ", "Hi", " ", "2"]);
    expect(await contents("mistral-large")).toEqual([" ", "Hi", "", "2"]);
  });

  test("have no white space at the end for Claude and no names for Mistral", async () => {
    expect(await sent([user("Hi"), assistant("Yes, \n")], { model: "claude-3-5-haiku" })).toEqual([
      { role: "user", name: "user", content: "Hi" },
      { role: "assistant", content: "Yes," },
    ]);
    const mistral = { model: "open-mixtral", modelInfo: { ...customInfo, family: "mistral" } };
    expect(await sent([user("Hi")], mistral)).toEqual([{ role: "user", content: "Hi" }]);
  });

  test("contain an earlier message unchanged", async () => {
    const client = clientOf(fake);
    const messages: LLMMessage[] = [user('Ünï "quoted" \u2028 text'), assistant("Yes")];
    await client.create(messages);
    const first = lastBody(fake).messages;
    await client.create([...messages, user("More")]);
    expect(lastBody(fake).messages.slice(0, 2)).toEqual(first);
    expect(lastBody(fake).messages).toHaveLength(3);
  });
});

describe("the tools of a request", () => {
  test("are sent in each request to Claude with calls in its conversation, and must not be called", async () => {
    const conversation = [user("Add 1."), assistant([call]), toolResult("c1", "2")];
    const asked = async (model: string, options: object): Promise<JsonObject> => {
      await clientOf(fake, { model }).create(conversation, options);
      return lastBody(fake) as unknown as JsonObject;
    };
    const own = { function: { name: "add", description: "Adds." } };
    const standIn = { function: { name: "add", parameters: { type: "object", properties: {} } } };
    expect(
      await asked("claude-sonnet-4-5", { declaredTools: [add], toolChoice: "none" }),
    ).toMatchObject({
      tools: [own],
      tool_choice: "none",
    });
    expect(await asked("claude-3-5-haiku", {})).toMatchObject({
      tools: [standIn],
      tool_choice: "none",
    });
    expect(await asked("claude-3-5-haiku", { tools: [add] })).toMatchObject({
      tools: [own],
      tool_choice: "auto",
    });
    expect(await asked("gpt-4o", { declaredTools: [add], toolChoice: "none" })).not.toHaveProperty(
      "tools",
    );
    await clientOf(fake, { model: "claude-3-5-haiku" }).create([user("Hi")], {
      declaredTools: [add],
    });
    expect(lastBody(fake)).not.toHaveProperty("tools");
  });

  test("are sent with a choice and with parallel calls as configured", async () => {
    const client = clientOf(fake, { parallelToolCalls: false });
    await client.create([user("Hi")], { tools: [{ ...add, strict: true }, { name: "stop" }] });
    expect(lastBody(fake)).toMatchObject({
      tools: [
        { type: "function", function: { ...add, strict: true } },
        {
          type: "function",
          function: { name: "stop", description: "", parameters: {}, strict: false },
        },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
    });
    await client.create([user("Hi")], { tools: [add], toolChoice: { name: "add" } });
    expect(lastBody(fake)).toMatchObject({
      tool_choice: { type: "function", function: { name: "add" } },
    });
    await client.create([user("Hi")], { toolChoice: "none" });
    for (const key of ["tools", "tool_choice", "parallel_tool_calls"])
      expect(lastBody(fake)).not.toHaveProperty(key);
  });

  test("are refused before they are sent if they cannot work", async () => {
    const client = clientOf(fake);
    const ask = (options: Parameters<typeof client.create>[1]) =>
      client.create([user("Hi")], options);
    await expect(ask({ tools: [{ name: "no way" }] })).rejects.toThrow("'no way'");
    await expect(ask({ tools: [add], toolChoice: { name: "sub" } })).rejects.toThrow("'sub'");
    await expect(ask({ toolChoice: { name: "add" } })).rejects.toThrow("none");
    await expect(ask({ extraCreateArgs: { messages: [] } })).rejects.toThrow("messages");
    const plain = clientOf(fake, { model: "o1-mini" });
    await expect(plain.create([user("Hi")], { tools: [add] })).rejects.toThrow("function_calling");
  });
});

describe("the output that a request asks for", () => {
  test("has a closed schema with all properties required", async () => {
    const schema: JsonObject = {
      type: "object",
      properties: {
        name: { type: "string", default: null },
        parts: { type: "array", items: { $ref: "#/$defs/Part" } },
        default: {
          anyOf: [{ type: "object", properties: { a: { type: "null" } } }, { type: "null" }],
        },
      },
      required: ["name"],
      $defs: { Part: { type: "object", properties: { size: { type: "number" } } } },
    };
    const before = structuredClone(schema);
    await clientOf(fake).create([user("Hi")], { jsonOutput: { name: "Thing", schema } });
    const closed = { additionalProperties: false };
    expect(lastBody(fake)["response_format"]).toEqual({
      type: "json_schema",
      json_schema: {
        name: "Thing",
        strict: true,
        schema: {
          type: "object",
          ...closed,
          properties: {
            name: { type: "string" },
            parts: { type: "array", items: { $ref: "#/$defs/Part" } },
            default: {
              anyOf: [
                { type: "object", properties: { a: { type: "null" } }, required: ["a"], ...closed },
                { type: "null" },
              ],
            },
          },
          required: ["name", "parts", "default"],
          $defs: {
            Part: {
              type: "object",
              properties: { size: { type: "number" } },
              required: ["size"],
              ...closed,
            },
          },
        },
      },
    });
    expect(schema).toEqual(before);
  });

  test("is JSON, text, or the setting of the config", async () => {
    const client = clientOf(fake, { responseFormat: { type: "json_object" } });
    const format = async (jsonOutput?: boolean) => {
      await client.create([user("Hi")], jsonOutput === undefined ? {} : { jsonOutput });
      return lastBody(fake)["response_format"];
    };
    expect(await format()).toEqual({ type: "json_object" });
    expect(await format(false)).toEqual({ type: "text" });
    expect(await format(true)).toEqual({ type: "json_object" });
  });

  test("is refused if the model lacks it", async () => {
    const client = clientOf(fake, { model: "custom", modelInfo: customInfo });
    const schema = { name: "T", schema: { type: "object" } };
    await expect(client.create([user("Hi")], { jsonOutput: true })).rejects.toThrow("json_output");
    await expect(client.create([user("Hi")], { jsonOutput: schema })).rejects.toThrow(
      "structured_output",
    );
    const config = { model: "custom", modelInfo: customInfo };
    expect(() => clientOf(fake, { ...config, responseFormat: { type: "json_object" } })).toThrow(
      "json_output",
    );
  });
});

test("settings of the config and of the call are in the body, and those of the call win", async () => {
  const client = clientOf(fake, {
    temperature: 0.5,
    topP: 0.9,
    seed: 7,
    stop: ["END"],
    frequencyPenalty: 0.1,
    reasoningEffort: "low",
    maxRetries: 5,
    timeout: 30,
    defaultHeaders: { "x-team": "blue" },
    organization: "org-1",
  });
  await client.create([user("Hi")], {
    extraCreateArgs: { temperature: 1, extra_body: { user: "u1" }, timeout: 20 },
    idempotencyKey: "step-1",
  });
  const { messages: _, ...rest } = lastBody(fake);
  expect(rest).toEqual({
    model: "gpt-4o",
    temperature: 1,
    top_p: 0.9,
    seed: 7,
    stop: ["END"],
    frequency_penalty: 0.1,
    reasoning_effort: "low",
    user: "u1",
  });
  expect(fake.requests.at(-1)).toMatchObject({
    idempotency_key: "step-1",
    headers: {
      authorization: "Bearer test-key",
      "openai-organization": "org-1",
      "x-team": "blue",
      "x-stainless-timeout": "20",
      "x-stainless-retry-count": "0",
    },
  });
});
