import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AnthropicChatCompletionClient,
  type ChatCompletionClient,
  type CreateResult,
  ModelError,
  OllamaChatCompletionClient,
  OpenAIChatCompletionClient,
  WorkersAIChatCompletionClient,
} from "troupe";
import { collect, user } from "../support.ts";

type Fetch = () => Promise<Response>;
type Api = "chat" | "responses" | "claude" | "ollama" | "workersAI";

const CLIENTS: Record<Api, (fetch: Fetch) => ChatCompletionClient> = {
  chat: (fetch) => new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "k" }, { fetch }),
  responses: (fetch) =>
    new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "k", api: "responses" }, { fetch }),
  claude: (fetch) =>
    new AnthropicChatCompletionClient({ model: "claude-sonnet-4-5", apiKey: "k" }, { fetch }),
  ollama: (fetch) =>
    new OllamaChatCompletionClient({ model: "qwen3", host: "http://ollama.test" }, { fetch }),
  workersAI: (fetch) =>
    new WorkersAIChatCompletionClient({ model: "@cf/openai/gpt-oss-120b" }, { ai: { run: fetch } }),
};

interface Sent {
  status?: number;
  headers?: Record<string, string>;
  body: string;
  /** Whether the connection breaks after the body. */
  breaks?: boolean;
}

function serve({ status = 200, headers = {}, body, breaks = false }: Sent): Fetch {
  return async () =>
    new Response(
      new ReadableStream({
        start(controller) {
          if (body !== "") controller.enqueue(new TextEncoder().encode(body));
          if (!breaks) controller.close();
        },
        // In a later read, because an error would discard what has not been read.
        pull(controller) {
          controller.error(new TypeError("terminated"));
        },
      }),
      { status, headers },
    );
}

async function ask(api: Api, sent: Sent, streamed: boolean): Promise<CreateResult | ModelError> {
  const client = CLIENTS[api](serve(sent));
  const asked = streamed
    ? collect(client.createStream([user("Hi")])).then(({ result }) => result)
    : client.create([user("Hi")]);
  return asked.catch((error: unknown) => {
    if (!(error instanceof ModelError)) throw error;
    return error;
  });
}

const json = (value: unknown): string => JSON.stringify(value);
const sse = (...events: (object | string | null)[]): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : json(event)}\n\n`).join("");
const delta = (content: unknown, rest: object = {}): object => ({
  choices: [{ index: 0, delta: { content }, finish_reason: null, ...rest }],
});
const stop = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] };
const chat = (message: object, rest: object = {}): object => ({
  choices: [{ index: 0, message, finish_reason: "stop" }],
  ...rest,
});

describe("an answer is read beside noise", () => {
  test.each<[string, Api, string]>([
    ["null", "chat", sse(delta("Hi"), null, stop, "[DONE]")],
    [
      "a null delta",
      "chat",
      sse(delta("Hi"), { choices: [{ delta: null, finish_reason: "stop" }] }),
    ],
    ["null choices", "chat", sse({ choices: null }, delta("Hi"), { choices: [null] }, stop)],
    ["empty data", "chat", `${sse(delta("Hi"))}data:\n\n${sse(stop, "[DONE]")}`],
    [
      "comments and pings",
      "chat",
      `: hold\n\nevent: ping\ndata: alive\n\n${sse(delta("Hi"), stop)}`,
    ],
    ["blanks about the last event", "chat", sse(delta("Hi"), "[DONE] ")],
    ["unknown chunks", "chat", sse({ id: 1 }, { foo: [] }, delta("Hi"), {}, stop)],
    ["odd usage", "chat", sse(delta("Hi"), stop, { choices: [], usage: { prompt_tokens: {} } })],
    ["an empty error", "chat", sse({ ...delta("Hi"), error: { message: "", code: 0 } }, stop)],
    ["the whole message at the end", "chat", sse(delta("Hi"), chat({ content: "Hi" }))],
    ["JSON instead of a stream", "chat", json(chat({ content: "Hi" }))],
    ["JSON of several lines", "chat", JSON.stringify(chat({ content: "Hi" }), null, 2)],
    ["a list of parts", "chat", json(chat({ content: [{ type: "text", text: "Hi" }, null] }))],
    ["a byte order mark", "chat", `\uFEFF${sse(delta("Hi"), stop)}`],
    [
      "unknown events",
      "claude",
      sse(
        { type: "message_start", message: { usage: null } },
        { type: "news" },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        null,
        { type: "content_block_delta", index: 0, delta: null },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: null },
      ),
    ],
    [
      "JSON for Claude",
      "claude",
      json({ content: [{ type: "text", text: "Hi" }], stop_reason: "end_turn" }),
    ],
    [
      "JSON for Responses",
      "responses",
      json({ status: "completed", output: [null, { type: "message", content: "Hi" }] }),
    ],
    [
      "null lines",
      "ollama",
      `null\n{"message":null}\n{"message":{"content":"Hi"}}\n\n{"done":true}\n`,
    ],
    ["events of Ollama", "ollama", sse({ message: { content: "Hi" } }, { done: true })],
    ["JSON for Workers AI", "workersAI", json({ response: "Hi", usage: null })],
  ])("%s", async (_, api, body) => {
    for (const streamed of [true, false])
      expect(await ask(api, { body }, streamed)).toMatchObject({ content: "Hi" });
  });
});

describe("a failed answer", () => {
  const said = "it broke";
  const error = { error: { message: said, code: 400, type: "BadRequestError" } };
  test.each<[string, Api, Sent, object]>([
    [
      "in the choice",
      "chat",
      {
        body: sse(
          delta("H"),
          delta("", { finish_reason: "error", error: { code: 502, message: said } }),
        ),
      },
      { kind: "server", status: 502, retryable: true },
    ],
    [
      "in mid-stream",
      "chat",
      { body: sse(delta("H"), error) },
      { kind: "bad_request", retryable: false },
    ],
    [
      "after the end of the text",
      "chat",
      { body: sse(delta("H"), error, "[DONE]") },
      { retryable: false },
    ],
    [
      "with the object error",
      "chat",
      { body: sse(delta("H"), { object: "error", message: said, code: "429" }) },
      { kind: "rate_limit", retryable: true },
    ],
    [
      "as plain text",
      "chat",
      { body: `event: error\ndata: ${said}\n\n` },
      { kind: "server", retryable: true },
    ],
    [
      "as JSON between the events",
      "chat",
      { body: `${sse(delta("H"))}${json(error)}\n` },
      { retryable: false },
    ],
    [
      "with 200",
      "chat",
      { body: json({ error: { message: said, code: 403 } }) },
      { kind: "auth", retryable: false },
    ],
    [
      "in a list",
      "chat",
      { body: json([{ error: { code: 429, message: said, details: [{ retryDelay: "3.2s" }] } }]) },
      { kind: "rate_limit", retryAfterMs: 3200 },
    ],
    [
      "inside of another error",
      "chat",
      {
        status: 500,
        body: json({
          error: { message: `Upstream: ${json({ error: { code: "401", message: said } })}` },
        }),
      },
      { kind: "auth", retryable: false },
    ],
    [
      "at the top of a body",
      "chat",
      { status: 404, body: json({ detail: said }) },
      { kind: "bad_request", status: 404 },
    ],
    [
      "that asks for a wait in words",
      "chat",
      { status: 429, body: json({ error: `${said}, try again in 1m2.5s.` }) },
      { retryAfterMs: 62_500 },
    ],
    [
      "with a wait in a field",
      "chat",
      { status: 503, body: json({ error: said, retry_after: "350ms" }) },
      { retryAfterMs: 350 },
    ],
    [
      "with a wait in a header",
      "chat",
      {
        status: 429,
        headers: { "retry-after": "2" },
        body: json({ error: { message: said, retry_after: 9 } }),
      },
      { retryAfterMs: 2000 },
    ],
    [
      "with a request id",
      "chat",
      { status: 500, headers: { "x-request-id": "r1" }, body: said },
      { data: { request_id: "r1" } },
    ],
    [
      "of a gateway's page",
      "chat",
      { body: `<html><title>${said}</title>` },
      { kind: "bad_response", retryable: true },
    ],
    ["in text", "chat", { body: said }, { kind: "bad_response" }],
    [
      "of Claude",
      "claude",
      {
        body: `event: error\ndata: ${json({ type: "error", error: { type: "overloaded_error", message: said } })}\n\n`,
      },
      { kind: "server", retryable: true },
    ],
    [
      "of Ollama",
      "ollama",
      { body: `{"message":{"content":"H"}}\n{"error":"${said}"}\n` },
      { kind: "server" },
    ],
    [
      "of Responses",
      "responses",
      { body: sse({ type: "error", code: "rate_limit_exceeded", message: said }) },
      { kind: "rate_limit" },
    ],
    [
      "of Workers AI",
      "workersAI",
      { body: sse({ errors: [{ code: 3036, message: said }] }) },
      { retryable: false },
    ],
  ])("an error %s is recognised", async (_, api, sent, expected) => {
    for (const streamed of [true, false]) {
      const failed = await ask(api, sent, streamed);
      expect(failed).toMatchObject(expected);
      expect(failed).toMatchObject({ message: expect.stringContaining(said) as string });
    }
  });

  test.each([
    ["error", "server"],
    ["MALFORMED_FUNCTION_CALL", "bad_response"],
    ["overload", "server"],
    ["content_filter", "refused"],
  ])("finish reason %s is %s", async (finish_reason, kind) => {
    const usage = { prompt_tokens: 7, completion_tokens: 2 };
    const body = sse(delta("H"), { ...delta("", { finish_reason }), usage }, "[DONE]");
    for (const streamed of [true, false])
      expect(await ask("chat", { body }, streamed)).toMatchObject({
        kind,
        spent: { "gpt-4o": usage },
      });
  });

  test.each<Api>(["chat", "responses"])(
    "a reply with too many calls is refused (%s)",
    async (api) => {
      const calls = Array.from({ length: 1001 }, (_, index) => ({
        type: "response.output_item.added",
        output_index: index,
        item: { type: "function_call", call_id: `c${index}`, name: "add", arguments: "{}" },
        choices: [
          { delta: { tool_calls: [{ index, id: `c${index}`, function: { name: "add" } }] } },
        ],
      }));
      expect(await ask(api, { body: sse(...calls, stop, "[DONE]") }, true)).toMatchObject({
        kind: "bad_response",
        message: expect.stringContaining("more than 1000 calls") as string,
        retryable: false,
      });
    },
  );

  test("an empty answer is an error, also with thoughts, and with a limit of tokens", async () => {
    const empty = json(chat({ content: " ", reasoning_content: "I think." }));
    expect(await ask("chat", { body: empty }, true)).toMatchObject({
      code: "model_empty_response",
      retryable: true,
    });
    const message = { content: null, reasoning_content: "I think." };
    const cut = json({
      choices: [{ message, finish_reason: "length" }],
      usage: { prompt_tokens: 7 },
    });
    const client = new OpenAIChatCompletionClient(
      { model: "gpt-4o", apiKey: "k", maxTokens: 64 },
      { fetch: serve({ body: cut }) },
    );
    await expect(client.create([user("Hi")])).rejects.toMatchObject({
      code: "model_empty_response",
      retryable: false,
      message: expect.stringContaining("max_tokens: 64") as string,
      spent: { "gpt-4o": { prompt_tokens: 7 } },
    });
    expect(client.totalUsage().prompt_tokens).toBe(7);
  });

  test.each<[Api, (logprobs: unknown[]) => object]>([
    [
      "chat",
      (content) =>
        chat(
          { content: "Hi" },
          {
            choices: [{ message: { content: "Hi" }, finish_reason: "stop", logprobs: { content } }],
          },
        ),
    ],
    [
      "ollama",
      (logprobs) => ({ message: { content: "Hi" }, logprobs, done: true, done_reason: "stop" }),
    ],
  ])(
    "%s: more tokens than a call of a function has arguments can have probabilities",
    async (api, answer) => {
      const logprobs = Array.from({ length: 200_000 }, () => ({ token: "a", logprob: -1 }));
      const result = await ask(api, { body: json(answer(logprobs)) }, false);
      expect(result).toMatchObject({ content: "Hi" });
      expect((result as CreateResult).logprobs).toHaveLength(200_000);
    },
  );

  test.each([
    ["7", "7"],
    ['"Hey"', "Hey"],
    ["true", "true"],
    ['{"choices":"odd"}', "odd"],
    ['{"choices":[{"delta":{"content":77}}]}', "77"],
    ["broken", "broken"],
  ])("a chunk %s is named", async (chunk, named) => {
    expect(await ask("chat", { body: sse(delta("H"), chunk, stop) }, true)).toMatchObject({
      kind: "bad_response",
      message: expect.stringContaining(named) as string,
    });
  });
});

describe("the words for a full context are recognised", () => {
  const kindOf = async (message: string, status = 400): Promise<unknown> =>
    ((await ask("chat", { status, body: json({ error: { message } }) }, false)) as ModelError).kind;

  test.each([
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 201381 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "max_tokens must be at least 1, got -12.",
    "the request exceeds the available context size. try increasing the context size",
    "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it",
    "context shift is disabled",
    "the input length exceeds the context length",
    "prompt too long; exceeded max context length by 100 tokens",
    "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough",
    "The number of tokens to keep from the initial prompt is greater than the context length",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Requested token count exceeds the model's maximum context length of 4096 tokens.",
    "Input is too long for requested model.",
    "The input is too long for this model.",
    "Too many input tokens. Max input tokens: 128000, request input token count: 130000",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000.",
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
    "The prompt is too long: 50000, model maximum context length: 32768",
    "The estimated number of input and maximum output tokens (5000) exceeded this model context window limit (4096).",
    "Range of input length should be [1, 30720]",
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)",
    "invalid params, context window exceeds limit",
    "prompt token count of 65000 exceeds the limit of 64000",
    "Prompt tokens exceed context window size: number of prompt tokens: 5000; context window size: 4096",
    "Prompt 超长",
  ])("%s", async (message) => {
    expect(await kindOf(message)).toBe("context_length");
  });

  test.each([
    "max_tokens is too large: 100000. This model supports at most 4096 completion tokens.",
    "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40.",
    "Invalid 'tools': array too long. Expected an array with maximum length 128.",
    "Unsupported parameter: 'max_tokens' is not supported with this model.",
    "Unknown field: context_length",
    "context deadline exceeded",
    "max_tokens must be at least 1, got 0",
    "Request too large on tokens per min (TPM): Limit 30000, Requested 45000.",
    "Your input contains too many images",
    "The file exceeds the limit of 20 MB",
  ])("except in: %s", async (message) => {
    expect(await kindOf(message)).toBe("bad_request");
  });

  test("except for too many tokens in a minute, which are a rate limit", async () => {
    const message = "Too many tokens, please wait before trying again.";
    expect(await kindOf(message, 429)).toBe("rate_limit");
  });
});

describe("a good answer is tested with one fault", () => {
  const TEXT = "The answer has words.";
  const pieces = ["The answer", " has", " words."];
  const message = { type: "message", id: "m", content: [{ type: "output_text", text: TEXT }] };
  const block = {
    type: "content_block_start",
    index: 0,
    content_block: { type: "text", text: "" },
  };
  const GOOD: Record<Api, readonly object[]> = {
    chat: [
      ...pieces.map((content) => delta(content)),
      stop,
      { choices: [], usage: { prompt_tokens: 3, completion_tokens: 3 } },
    ],
    responses: [
      ...pieces.map((text) => ({ type: "response.output_text.delta", item_id: "m", delta: text })),
      { type: "response.output_item.done", item: message },
      { type: "response.completed", response: { status: "completed", output: [message] } },
    ],
    claude: [
      { type: "message_start", message: { usage: { input_tokens: 3 } } },
      block,
      ...pieces.map((text) => ({
        type: "content_block_delta",
        index: 0,
        delta: { type: "text_delta", text },
      })),
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 3 } },
      { type: "message_stop" },
    ],
    ollama: [
      ...pieces.map((content) => ({ message: { content }, done: false })),
      { message: { content: "" }, done: true, done_reason: "stop" },
    ],
    workersAI: [...pieces.map((content) => delta(content)), stop],
  };
  const written = (api: Api, events: readonly unknown[]): string[] =>
    events.map((event) => (api === "ollama" ? `${json(event)}\n` : `data: ${json(event)}\n\n`));

  /** The right answer, or a failure with words. */
  async function check(api: Api, sent: Sent): Promise<void> {
    for (const streamed of [true, false]) {
      const outcome = await ask(api, sent, streamed);
      if (!(outcome instanceof ModelError)) expect(outcome.content).toBe(TEXT);
      else expect(outcome.message).not.toMatch(/undefined|TypeError|is not a function|null \(/);
    }
  }

  describe.each(Object.keys(GOOD) as Api[])("%s", (api) => {
    const events = GOOD[api];
    const good = written(api, events).join("");

    test("the answer without a fault is accepted", async () => {
      for (const streamed of [true, false])
        expect(await ask(api, { body: good }, streamed)).toMatchObject({ content: TEXT });
    });

    test("an answer that is cut or broken off anywhere is an error", async () => {
      for (let end = 0; end < good.length; end += 3) {
        await check(api, { body: good.slice(0, end) });
        await check(api, { body: good.slice(0, end), breaks: true });
      }
    });

    test("an error at any place before its end is the run's error", async () => {
      const error = { error: { message: "The server broke", code: 400 } };
      const last = api === "ollama" || api === "claude" || api === "responses" ? 1 : 0;
      for (let place = 0; place <= events.length - last; place++) {
        const body = written(api, events.toSpliced(place, 0, error)).join("");
        expect(await ask(api, { body }, true)).toMatchObject({
          message: expect.stringContaining("The server broke") as string,
          retryable: false,
        });
      }
    });

    test("null between its events is ignored", async () => {
      for (let place = 0; place <= events.length; place++) {
        const body = written(api, events.toSpliced(place, 0, null as never)).join("");
        expect(await ask(api, { body }, true)).toMatchObject({ content: TEXT });
      }
    });

    test("a value of another type at any place is an error or ignored", async () => {
      const odd = fc.constantFrom<unknown[]>(7, true, [7], [true, "x"], "");
      const places = fc.nat({ max: events.length - 1 });
      await fc.assert(
        fc.asyncProperty(places, fc.nat(), odd, async (place, seed, value) => {
          const event = structuredClone(events[place]) as Record<string, unknown>;
          const spots = spotsIn(event);
          const [owner, name] = spots[seed % spots.length] as [Record<string, unknown>, string];
          // An empty text in place of a text is an answer without it.
          if (value === "" && typeof (owner as { [name]: unknown })[name] === "string") return;
          owner[name] = value;
          await check(api, { body: written(api, events.with(place, event)).join("") });
        }),
        { numRuns: 150 },
      );
    });
  });

  /** All fields of a value, each with its owner. */
  function spotsIn(value: unknown): [object, string][] {
    if (typeof value !== "object" || value === null) return [];
    return Object.entries(value).flatMap(([name, inner]: [string, unknown]) => [
      [value, name],
      ...spotsIn(inner),
    ]);
  }
});
