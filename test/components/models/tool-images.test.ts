import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  AnthropicChatCompletionClient,
  AssistantAgent,
  type ChatCompletionClient,
  HttpTool,
  type LLMMessage,
  OllamaChatCompletionClient,
  OpenAIChatCompletionClient,
  run,
} from "troupe";
import { EchoServer } from "../../support/echo-server.ts";
import { type FakeOpenAI, startFakeOpenAI } from "../../support/fake-openai/server.ts";
import { assistant, lastBody, toolResult, user } from "./support.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const NOTE = "[Image: image/png, 70 bytes";
const URI = `data:image/png;base64,${PNG}`;

let fake: FakeOpenAI;
beforeAll(async () => {
  fake = await startFakeOpenAI();
});
afterAll(() => fake.close());

const info = (vision: boolean) => ({
  vision,
  functionCalling: true,
  jsonOutput: true,
  structuredOutput: true,
  family: "unknown",
});

const CLIENTS: [string, (vision: boolean) => ChatCompletionClient][] = [
  [
    "chat completions",
    (vision) =>
      new OpenAIChatCompletionClient({
        model: "gpt-4o",
        baseURL: fake.url,
        apiKey: "key",
        modelInfo: info(vision),
      }),
  ],
  [
    "responses",
    (vision) =>
      new OpenAIChatCompletionClient({
        model: "gpt-4o",
        baseURL: fake.url,
        apiKey: "key",
        api: "responses",
        modelInfo: info(vision),
      }),
  ],
  [
    "Claude",
    (vision) =>
      new AnthropicChatCompletionClient({
        model: "claude-sonnet-4-5",
        baseURL: fake.origin,
        apiKey: "key",
        cache: "off",
        modelInfo: info(vision),
      }),
  ],
  [
    "Ollama",
    (vision) =>
      new OllamaChatCompletionClient({
        model: "qwen3-vl",
        host: fake.origin,
        modelInfo: info(vision),
      }),
  ],
];

/** A chart that a tool drew, and what was said of it. */
const CONVERSATION: readonly LLMMessage[] = [
  user("Draw it."),
  assistant([{ id: "c1", name: "chart", arguments: "{}" }]),
  toolResult("c1", `The chart:\n[Image: ${PNG}]\nDone.`),
];

async function bodyOf(client: ChatCompletionClient, messages = CONVERSATION): Promise<string> {
  await client.create(messages, { tools: [{ name: "chart", parameters: {} }] });
  return JSON.stringify(lastBody(fake));
}

describe.each(CLIENTS)("a tool with an image, called by %s", (_name, clientOf) => {
  test("shows it to a model that sees, once and not as text", async () => {
    const body = await bodyOf(clientOf(true));
    expect(body.split(PNG)).toHaveLength(2);
    expect(body).not.toContain(`[Image: ${PNG}`);
  });

  test("has a line of text for a model that does not see", async () => {
    const body = await bodyOf(clientOf(false));
    expect(body).not.toContain(PNG);
    expect(body).toContain(NOTE);
  });

  test("shows it to other agents in the message that sums up the calls", async () => {
    const said = user(`Result:\n[Image: ${PNG}]`, "drawer");
    expect((await bodyOf(clientOf(true), [said])).split(PNG)).toHaveLength(2);
    const blind = await bodyOf(clientOf(false), [said]);
    expect(blind).not.toContain(PNG);
    expect(blind).toContain(NOTE);
  });
});

test("an image is at the position that each API requires", async () => {
  const [chat, responses, claude, ollama] = CLIENTS.map(([, clientOf]) => clientOf(true));
  await bodyOf(chat!);
  expect(lastBody(fake).messages.slice(-2)).toEqual([
    {
      role: "tool",
      tool_call_id: "c1",
      content: `The chart:\n${NOTE}, shown below]\nDone.`,
    },
    {
      role: "user",
      content: [
        { type: "text", text: "Image from add:" },
        { type: "image_url", image_url: { url: URI, detail: "auto" } },
      ],
    },
  ]);
  await bodyOf(responses!);
  expect((lastBody(fake)["input"] as object[]).at(-1)).toEqual({
    type: "function_call_output",
    call_id: "c1",
    output: [
      { type: "input_text", text: "The chart:\n" },
      { type: "input_image", image_url: URI, detail: "auto" },
      { type: "input_text", text: "\nDone." },
    ],
  });
  await bodyOf(claude!);
  expect(lastBody(fake).messages.at(-1)).toMatchObject({
    role: "user",
    content: [
      { type: "tool_result", content: [{ type: "text" }, { type: "image" }, { type: "text" }] },
    ],
  });
  await bodyOf(ollama!);
  expect(lastBody(fake).messages.at(-1)).toMatchObject({ role: "tool", images: [PNG] });
});

test("an image that an HTTP tool returns is shown, and the messages keep AutoGen's text", async () => {
  await using server = await EchoServer.start((response) => {
    response.writeHead(200, { "content-type": "image/png" });
    response.end(Buffer.from(PNG, "base64"));
  });
  const tool = new HttpTool({
    name: "chart",
    scheme: "http",
    host: "127.0.0.1",
    port: server.port,
    method: "GET",
    jsonSchema: { type: "object", properties: {} },
    returnType: "text",
  });
  await using model = await startFakeOpenAI({
    rules: [
      { name: "say", match: { any: "Image from chart" }, reply: { content: "I see a dot." } },
      { name: "call", reply: { tool_calls: [{ name: "chart", arguments: {} }] } },
    ],
  });
  const modelClient = new OpenAIChatCompletionClient({
    model: "gpt-4o",
    baseURL: model.url,
    apiKey: "key",
  });
  const agent = new AssistantAgent({
    name: "a",
    modelClient,
    tools: [tool],
    reflectOnToolUse: true,
  });
  const { messages } = await run(agent, { task: "Draw." });
  expect(messages.at(-1)).toMatchObject({ content: "I see a dot." });
  const executed = messages.find(({ type }) => type === "ToolCallExecutionEvent");
  expect(executed).toMatchObject({ content: [{ content: `[Image: ${PNG}]` }] });
});
