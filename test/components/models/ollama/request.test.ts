import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { dumpComponent, OllamaChatCompletionClient } from "troupe";
import type { LLMMessage, OutgoingDependencies } from "troupe";
import type { OllamaChatCompletionClientOptions } from "troupe";
import { type FakeOpenAI, startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { assistant, customInfo, lastBody, system, toolResult, user } from "../support.ts";

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI();
});
afterAll(() => fake.close());

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const clientOf = (
  config: Partial<OllamaChatCompletionClientOptions> = {},
  dependencies: OutgoingDependencies = {},
) => new OllamaChatCompletionClient({ model: "qwen3", host: fake.origin, ...config }, dependencies);

async function sent(
  messages: readonly LLMMessage[],
  config: Partial<OllamaChatCompletionClientOptions> = {},
): Promise<unknown[]> {
  await clientOf(config).create(messages);
  return lastBody(fake).messages;
}

const add = {
  name: "add",
  description: "Adds.",
  parameters: {
    type: "object",
    properties: { a: { anyOf: [{ type: "number" }, { type: "null" }] } },
    required: ["a"],
  },
};

describe("the options of a request", () => {
  test("reach /api/chat unchanged, and the OpenAI endpoint gets nothing", async () => {
    const options = { num_ctx: 16_384, top_k: 20, repeat_penalty: 1.1, temperature: 0, min_p: 0.1 };
    const client = clientOf({ options, keepAlive: "10m", think: "low" });
    await client.create([user("Hi")]);
    expect(fake.requests.at(-1)).toMatchObject({ path: "/api/chat" });
    expect(lastBody(fake)).toEqual({
      model: "qwen3",
      messages: [{ role: "user", content: "Hi" }],
      stream: false,
      options,
      keep_alive: "10m",
      think: "low",
    });
  });

  test("override those beside `options`, and are dumped where AutoGen reads them", async () => {
    const config = { host: fake.origin, options: { num_ctx: 2048, seed: 1 }, numCtx: 8192 };
    const client = clientOf({ ...config, stop: "END" });
    await client.create([user("Hi")]);
    expect(lastBody(fake)["options"]).toEqual({ num_ctx: 8192, seed: 1, stop: ["END"] });
    expect(dumpComponent(client).config).toEqual({
      model: "qwen3",
      host: fake.origin,
      options: { num_ctx: 8192, seed: 1, stop: "END" },
    });
  });

  test("that the call sets override those of the config, one by one", async () => {
    const client = clientOf({ options: { num_ctx: 8192, seed: 1 } });
    await client.create([user("Hi")], {
      extraCreateArgs: {
        seed: 2,
        options: { top_k: 5 },
        think: true,
        truncate: false,
        extra_body: { keep_alive: 0 },
        timeout: 5,
      },
      idempotencyKey: "step-1",
    });
    expect(lastBody(fake)).toMatchObject({
      options: { num_ctx: 8192, seed: 2, top_k: 5 },
      think: true,
      truncate: false,
      keep_alive: 0,
    });
    expect(fake.requests.at(-1)).toMatchObject({ idempotency_key: "step-1" });
    await expect(
      client.create([user("Hi")], { extraCreateArgs: { stream: true, tools: [] } }),
    ).rejects.toThrow("stream, tools");
  });

  test("include numCtx, the context window", async () => {
    const count = await clientOf().countTokens([user("Hello there")]);
    expect(await clientOf({ numCtx: 4096 }).remainingTokens([user("Hello there")])).toBe(
      4096 - count,
    );
    expect(await clientOf().remainingTokens([user("Hello there")])).toBe(40_960 - count);
  });
});

describe("the messages of a request", () => {
  test("have the API's form for each kind", async () => {
    const call = { id: "c1", name: "add", arguments: '{"a":1}' };
    const messages = [
      system("Be kind."),
      user("Add 1.", "anna"),
      assistant([call], "once"),
      toolResult("c1", "2"),
      assistant([{ ...call, id: "c2", arguments: "not JSON" }]),
      toolResult("c2", "3"),
      assistant("It is 3.", "I thought"),
      user("Thanks."),
    ];
    expect(await sent(messages)).toEqual([
      { role: "system", content: "Be kind." },
      { role: "user", content: "Add 1." },
      {
        role: "assistant",
        content: "once",
        tool_calls: [{ id: "c1", function: { name: "add", arguments: { a: 1 } } }],
      },
      { role: "tool", content: "2", tool_name: "add", tool_call_id: "c1" },
      {
        role: "assistant",
        content: "",
        tool_calls: [{ id: "c2", function: { name: "add", arguments: {} } }],
      },
      { role: "tool", content: "3", tool_name: "add", tool_call_id: "c2" },
      { role: "assistant", content: "It is 3." },
      { role: "user", content: "Thanks." },
    ]);
  });

  test("contain images after the text that they follow", async () => {
    const picture = { data: PNG };
    expect(
      await sent([user(["Look:", picture, picture, "And?"])], { model: "qwen3-vl:8b" }),
    ).toEqual([
      { role: "user", content: "Look:", images: [PNG, PNG] },
      { role: "user", content: "And?" },
    ]);
    await expect(sent([user([picture])])).rejects.toThrow("model_info.vision");
  });
});

describe("the tools of a request", () => {
  test("have their whole schema, and the choice selects them", async () => {
    const sub = { name: "sub" };
    const names = async (toolChoice: "auto" | "required" | "none" | { name: string }) => {
      await clientOf().create([user("Hi")], { tools: [add, sub], toolChoice });
      const { tools = [] } = lastBody(fake) as { tools?: { function: { name: string } }[] };
      return tools.map((tool) => tool.function.name);
    };
    expect(await names("auto")).toEqual(["add", "sub"]);
    expect(lastBody(fake)["tools"]).toEqual([
      { type: "function", function: add },
      {
        type: "function",
        function: {
          name: "sub",
          description: "",
          parameters: { type: "object", properties: {} },
        },
      },
    ]);
    expect(await names("required")).toEqual(["add", "sub"]);
    expect(await names({ name: "sub" })).toEqual(["sub"]);
    expect(await names("none")).toEqual([]);
  });

  test("that cannot work are refused before anything is sent", async () => {
    const before = fake.requests.length;
    const ask = (options: Parameters<OllamaChatCompletionClient["create"]>[1], model = "qwen3") =>
      clientOf({ model }).create([user("Hi")], options);
    await expect(ask({ tools: [{ name: "no way" }] })).rejects.toThrow("'no way'");
    await expect(ask({ tools: [add], toolChoice: { name: "sub" } })).rejects.toThrow("'sub'");
    await expect(ask({ toolChoice: "required" })).rejects.toThrow("no tools");
    await expect(ask({ tools: [add] }, "llama2")).rejects.toThrow("function_calling");
    expect(fake.requests.length).toBe(before);
  });
});

test("a structured output is a format: JSON, a schema, or neither", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const format = async (
    jsonOutput?: boolean | { name: string; schema: typeof schema },
    config: Partial<OllamaChatCompletionClientOptions> = {},
  ) => {
    await clientOf(config).create([user("Hi")], jsonOutput === undefined ? {} : { jsonOutput });
    return lastBody(fake)["format"];
  };
  expect(await format(true)).toBe("json");
  expect(await format({ name: "A", schema })).toEqual(schema);
  expect(await format(false)).toBeUndefined();
  const responseFormat = { type: "json_schema", jsonSchema: { name: "A", schema } } as const;
  expect(await format(undefined, { responseFormat })).toEqual(schema);
  expect(await format(false, { responseFormat })).toBeUndefined();
  expect(await format(true, { responseFormat })).toBe("json");
  const plain = { model: "mine", modelInfo: customInfo };
  await expect(format(true, plain)).rejects.toThrow("json_output");
  await expect(format({ name: "A", schema }, plain)).rejects.toThrow("structured_output");
  expect(() => clientOf({ ...plain, responseFormat: { type: "json_object" } })).toThrow(
    "json_output",
  );
});

describe("the server of a client", () => {
  const url = async (host: string | undefined, env: Record<string, string> = {}) => {
    const asked: string[] = [];
    const client = new OllamaChatCompletionClient(
      { model: "qwen3", host: host ?? null },
      {
        env: (name) => env[name],
        fetch: async (input) => {
          asked.push(new Request(input).url);
          return Response.json({ message: { content: "Hi" }, done: true });
        },
      },
    );
    await client.create([user("Hi")]);
    return asked[0];
  };

  test.each([
    [undefined, "http://localhost:11434/api/chat"],
    ["gpu", "http://gpu:11434/api/chat"],
    ["gpu:80", "http://gpu/api/chat"],
    [":5000", "http://localhost:5000/api/chat"],
    ["0.0.0.0", "http://127.0.0.1:11434/api/chat"],
    ["http://gpu:8080/", "http://gpu:8080/api/chat"],
    ["https://ollama.example.com/base/v1", "https://ollama.example.com/base/api/chat"],
  ])("is the host %s", async (host, expected) => {
    expect(await url(host)).toBe(expected);
  });

  test("is OLLAMA_HOST if the config names none", async () => {
    const env = { OLLAMA_HOST: "gpu:1234" };
    expect(await url(undefined, env)).toBe("http://gpu:1234/api/chat");
    expect(await url("other", env)).toBe("http://other:11434/api/chat");
  });

  test.each(["ftp://gpu", "http://", "user:secret@gpu"])("cannot be %s", (host) => {
    expect(() => clientOf({ host })).toThrow(/Ollama server/);
  });

  test("gets headers with secrets, which are looked up for its address", async () => {
    const asked: string[][] = [];
    const secret = (ref: string, to: string): string => {
      asked.push([ref, to]);
      return "opened";
    };
    await clientOf({ headers: { authorization: "Bearer env:KEY" } }, { secret }).create([
      user("Hi"),
    ]);
    expect(asked).toEqual([["env:KEY", `${fake.origin}/api/chat`]]);
    expect(fake.requests.at(-1)?.headers).toMatchObject({ authorization: "Bearer opened" });
  });
});
