import { expect, test } from "vitest";
import { type FakeOpenAI, startFakeOpenAI } from "./server.ts";

// What the fakes refuse as the makers' servers do: each request that is wrong beside the same one put right. The rules'
// documentation is linked beside each rule.

interface Answer {
  status: number;
  text: string;
  body: { [key: string]: unknown };
}

async function post(
  fake: FakeOpenAI,
  path: string,
  body: object,
  headers: object,
): Promise<Answer> {
  const response = await fetch(fake.origin + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, body: JSON.parse(text) as Answer["body"] };
}

const start = (): Promise<FakeOpenAI> =>
  startFakeOpenAI({
    rules: [
      { name: "answer", match: { role: "tool" }, reply: { content: "5" } },
      {
        name: "call",
        match: { user: "Add" },
        reply: {
          reasoning: "Adding.",
          redacted: true,
          tool_calls: [{ name: "add" }, { name: "add" }],
        },
      },
    ],
  });

type Block = { [key: string]: unknown };
type Change<T> = (value: T) => T;

const anthropicTools = [{ name: "add", input_schema: { type: "object" } }];
const anthropic = {
  path: "/v1/messages",
  headers: { "x-api-key": "key", "anthropic-version": "2023-06-01" },
};

/** A request with the result of a call that the model made while it thought. */
async function claudeRequest(fake: FakeOpenAI): Promise<Block & { messages: Block[] }> {
  const request = {
    model: "claude-sonnet-4-5",
    max_tokens: 4000,
    thinking: { type: "enabled", budget_tokens: 2000 },
    tools: anthropicTools,
    messages: [{ role: "user", content: "Add" }],
  };
  const { body } = await post(fake, anthropic.path, request, anthropic.headers);
  const content = body["content"] as Block[];
  const results = content
    .filter(({ type }) => type === "tool_use")
    .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "5" }));
  const answer = { role: "assistant", content: content.map(withoutNulls) };
  return {
    ...request,
    messages: [...request.messages, answer, { role: "user", content: results }],
  };
}

const withoutNulls = (block: Block): Block =>
  Object.fromEntries(Object.entries(block).filter(([, value]) => value !== null));

const changeTurn =
  (change: Change<Block[]>): Change<Block & { messages: Block[] }> =>
  (request) => ({
    ...request,
    messages: request.messages.map((message) =>
      message["role"] === "assistant"
        ? { ...message, content: change(message["content"] as Block[]) }
        : message,
    ),
  });

test.each<[string, Change<Block & { messages: Block[] }>, RegExp]>([
  [
    "a turn of calls without its thinking",
    changeTurn((blocks) => blocks.filter(({ type }) => !String(type).includes("thinking"))),
    /Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
  ],
  [
    "thinking that is not at the beginning",
    changeTurn((blocks) => [...blocks.slice(2), ...blocks.slice(0, 2)]),
    /Expected `thinking`/,
  ],
  [
    "a changed thought",
    changeTurn(([first, ...rest]) => [{ ...first, thinking: "No." }, ...rest]),
    /Invalid `signature` in `thinking` block/,
  ],
  [
    "a changed signature",
    changeTurn(([first, ...rest]) => [{ ...first, signature: "EqQB" }, ...rest]),
    /Invalid `signature` in `thinking` block/,
  ],
  [
    "changed redacted thinking",
    changeTurn(([first, second, ...rest]) => [first ?? {}, { ...second, data: "x" }, ...rest]),
    /Invalid `data` in `redacted_thinking` block/,
  ],
  [
    "the thinking of another model",
    (request) => ({ ...request, model: "claude-opus-4-5" }),
    /Invalid `signature`/,
  ],
  [
    "a forced tool while it thinks",
    (request) => ({ ...request, tool_choice: { type: "any" } }),
    /tool_choice forces tool use/,
  ],
  [
    "a budget above the limit of the answer",
    (request) => ({ ...request, max_tokens: 1500 }),
    /`max_tokens` must be greater/,
  ],
])("Anthropic's API refuses %s", async (_, change, message) => {
  await using fake = await start();
  const request = await claudeRequest(fake);
  expect(await post(fake, anthropic.path, request, anthropic.headers)).toMatchObject({
    status: 200,
  });
  const wrong = await post(fake, anthropic.path, change(request), anthropic.headers);
  expect(wrong).toMatchObject({ status: 400, text: expect.stringMatching(message) as string });
});

test("Anthropic's API refuses the thinking that another key has paid for", async () => {
  await using fake = await start();
  const request = await claudeRequest(fake);
  const other = { ...anthropic.headers, "x-api-key": "other" };
  expect(await post(fake, anthropic.path, request, other)).toMatchObject({ status: 400 });
});

test("adaptive thinking continues without a thought before calls", async () => {
  await using fake = await start();
  const bare = changeTurn((blocks) => blocks.filter(({ type }) => type === "tool_use"));
  const request = { ...bare(await claudeRequest(fake)), thinking: { type: "adaptive" } };
  expect(await post(fake, anthropic.path, request, anthropic.headers)).toMatchObject({
    status: 200,
  });
});

const called = [
  { role: "user", content: "Add" },
  {
    role: "assistant",
    tool_calls: [{ id: "abcdefgh1", type: "function", function: { name: "add", arguments: "{}" } }],
  },
  { role: "tool", tool_call_id: "abcdefgh1", content: "5" },
];

interface ChatCase {
  name: string;
  model: string;
  path?: string;
  change: Change<Block>;
  message: RegExp;
  /** Changes that the server accepts. */
  accepts?: readonly [string, Change<Block>, object?][];
}

const without =
  (...names: string[]): Change<Block> =>
  (turn) =>
    Object.fromEntries(Object.entries(turn).filter(([name]) => !names.includes(name)));

const changeCall =
  (at: number, change: Change<Block>): Change<Block> =>
  (turn) => ({
    ...turn,
    tool_calls: (turn["tool_calls"] as Block[]).map((call, index) =>
      index === at ? change(call) : call,
    ),
  });

const signedAs = (thought_signature: string): Change<Block> =>
  changeCall(0, (call) => ({ ...call, extra_content: { google: { thought_signature } } }));

const off = { thinking: { type: "disabled" } };

test.each<ChatCase>([
  {
    name: "an unsigned call of Gemini 3",
    model: "gemini-3-pro-preview",
    path: "/v1beta/openai/chat/completions",
    change: changeCall(0, without("extra_content")),
    message: /missing a thought_signature/,
    accepts: [
      ["the documented placeholder", signedAs("skip_thought_signature_validator")],
      ["a second call unsigned", changeCall(1, without("extra_content"))],
    ],
  },
  {
    name: "a changed signature of Gemini 3",
    model: "gemini-3-pro-preview",
    path: "/v1beta/openai/chat/completions",
    change: signedAs("changed"),
    message: /Corrupted thought signature/,
  },
  {
    name: "a call of DeepSeek without its reasoning",
    model: "deepseek-v4-pro",
    change: without("reasoning_content"),
    message: /`reasoning_content` in the thinking mode must be passed back/,
    accepts: [["it where thinking is off", without("reasoning_content"), off]],
  },
  {
    name: "a call of Kimi with empty reasoning",
    model: "kimi-k2.6",
    change: (turn) => ({ ...turn, reasoning_content: "" }),
    message: /reasoning_content is missing in assistant tool call message at index 1/,
    accepts: [["it where thinking is off", without("reasoning_content"), off]],
  },
  {
    name: "a call of GLM without its reasoning",
    model: "glm-5.1",
    change: without("reasoning_content"),
    message: /must be returned/,
    accepts: [["it where thinking is off", without("reasoning_content"), off]],
  },
  {
    name: "a call of MiniMax without its thinking",
    model: "MiniMax-M2",
    change: without("reasoning_content"),
    message: /thinking of the tool calls is missing/,
  },
  {
    name: "a call by OpenRouter without its reasoning",
    model: "deepseek/deepseek-v4-pro",
    path: "/api/v1/chat/completions",
    change: without("reasoning_details", "reasoning"),
    message: /must be passed back/,
    accepts: [
      ["it without reasoning", without("reasoning_details"), { reasoning: { enabled: false } }],
    ],
  },
  {
    name: "changed details by OpenRouter",
    model: "deepseek/deepseek-v4-pro",
    path: "/api/v1/chat/completions",
    change: (turn) => ({ ...turn, reasoning_details: [{ type: "reasoning.text", text: "No." }] }),
    message: /Invalid signature in reasoning_details/,
  },
  {
    name: "the id of another maker's call in a request to Mistral",
    model: "magistral-medium-latest",
    change: changeCall(0, (call) => ({ ...call, id: "call_abc" })),
    message: /Tool call id was call_abc but must be a-z, A-Z, 0-9, with a length of 9/,
  },
  {
    name: "the fields of other makers in a request to OpenAI",
    model: "gpt-4o",
    change: (turn) => ({ ...turn, reasoning_details: [] }),
    message: /reasoning_details/,
  },
])("chat completions refuse $name", async ({ model, path, change, message, accepts = [] }) => {
  await using fake = await start();
  const to = path ?? "/v1/chat/completions";
  const headers = { authorization: "Bearer key" };
  const tools = [{ type: "function", function: { name: "add" } }];
  const question = { role: "user", content: "Add" };
  const first = await post(fake, to, { model, messages: [question], tools }, headers);
  const [choice] = first.body["choices"] as { message: Block }[];
  const turn = model === "gpt-4o" ? without("reasoning_content")(choice!.message) : choice!.message;
  const results = (turn["tool_calls"] as Block[]).map(({ id }) => ({
    role: "tool",
    tool_call_id: id,
    content: "5",
  }));
  const ask = (answer: Block, settings: object = {}) =>
    post(
      fake,
      to,
      { model, messages: [question, answer, ...results], tools, ...settings },
      headers,
    );
  expect(await ask(turn)).toMatchObject({ status: 200 });
  const wrong = await ask(change(turn));
  expect(wrong).toMatchObject({ status: 400, text: expect.stringMatching(message) as string });
  for (const [, accepted, settings] of accepts)
    expect(await ask(accepted(turn), settings)).toMatchObject({ status: 200 });
});

const PDF_DATA = "JVBERi0xLjQK";
const chat = (model: string, part: object) => ({
  model,
  messages: [{ role: "user", content: [part] }],
});
const asFile = (type: string, data = PDF_DATA) => ({
  type: "file",
  file: { filename: "a.pdf", file_data: `data:${type};base64,${data}` },
});
const asImage = {
  type: "image_url",
  image_url: { url: `data:application/pdf;base64,${PDF_DATA}` },
};
const claude = (source: object) => ({
  model: "claude-sonnet-4-5",
  max_tokens: 100,
  messages: [{ role: "user", content: [{ type: "document", source, title: "a" }] }],
});
const responses = (part: object) => ({
  model: "gpt-4o",
  input: [{ role: "user", content: [{ type: "input_file", ...part }] }],
});

test.each<[string, string, object, object]>([
  [
    "a file that is not a PDF in chat completions",
    "/v1/chat/completions",
    chat("gpt-4o", asFile("text/csv")),
    chat("gpt-4o", asFile("application/pdf")),
  ],
  [
    "data that is not a PDF",
    "/v1/chat/completions",
    chat("gpt-4o", asFile("application/pdf", "aGVsbG8=")),
    chat("gpt-4o", asFile("application/pdf")),
  ],
  [
    "a PDF as an image",
    "/v1/chat/completions",
    chat("gpt-4o", asImage),
    chat("gpt-4o", asFile("application/pdf")),
  ],
  [
    "a file for Gemini",
    "/v1beta/openai/chat/completions",
    chat("gemini-3-pro-preview", asFile("application/pdf")),
    chat("gemini-3-pro-preview", asImage),
  ],
  [
    "a document of Claude's that is not a PDF",
    "/v1/messages",
    claude({ type: "base64", media_type: "application/pdf", data: "aGVsbG8=" }),
    claude({ type: "base64", media_type: "application/pdf", data: PDF_DATA }),
  ],
  [
    "an empty document of Claude's",
    "/v1/messages",
    claude({ type: "text", media_type: "text/plain", data: " " }),
    claude({ type: "text", media_type: "text/plain", data: "hello" }),
  ],
  [
    "a file of a response without its name",
    "/v1/responses",
    responses({ file_data: `data:application/pdf;base64,${PDF_DATA}` }),
    responses({ filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF_DATA}` }),
  ],
])("a request with %s is refused", async (_name, path, wrong, right) => {
  const fake = await startFakeOpenAI();
  const headers = { ...anthropic.headers, authorization: "Bearer key" };
  try {
    expect((await post(fake, path, wrong, headers)).status).toBe(400);
    expect((await post(fake, path, right, headers)).status).toBe(200);
  } finally {
    await fake.close();
  }
});

test.each(["claude-opus-4-6", "claude-sonnet-5-5"])(
  "%s does not continue its answer",
  async (model) => {
    await using fake = await start();
    const ask = (messages: Block[]) =>
      post(fake, anthropic.path, { model, max_tokens: 100, messages }, anthropic.headers);
    const question = { role: "user", content: "Hi" };
    const answer = { role: "assistant", content: "Hello" };
    const refused = await ask([question, answer]);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringMatching(/does not support assistant message prefill/) as string,
    ]);
    expect(await ask([question, answer, question])).toMatchObject({ status: 200 });
  },
);

test.each<[string, object, number]>([
  ["a user after results", { messages: [...called, { role: "user", content: "And?" }] }, 400],
  ["an assistant at the end", { messages: [...called, { role: "assistant", content: "5" }] }, 400],
  ["stream_options", { stream: true, stream_options: { include_usage: true } }, 422],
  ["the name of a user", { messages: [{ role: "user", name: "ann", content: "Hi" }] }, 422],
])("Mistral refuses %s", async (_, change, status) => {
  await using fake = await start();
  const ask = (body: object) =>
    post(
      fake,
      "/v1/chat/completions",
      { model: "mistral-large-latest", messages: called, ...body },
      { authorization: "Bearer key" },
    );
  const answers = [await ask({}), await ask(change)];
  expect(answers.map((answer) => answer.status)).toEqual([200, status]);
});
