import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  AnthropicChatCompletionClient,
  type ChatCompletionClient,
  OllamaChatCompletionClient,
  OpenAIChatCompletionClient,
  WorkersAIChatCompletionClient,
} from "troupe";
import { collect, user } from "../support.ts";

/** What a server sends: an answer of one JSON, or the data of each event, or JSON text of either. */
type Sent = object | string;
type Fetch = (url: string | URL | Request) => Promise<Response>;

const textOf = (sent: Sent): string => (typeof sent === "string" ? sent : JSON.stringify(sent));
const serverOf = (type: string, body: string): Fetch => {
  return () => Promise.resolve(new Response(body, { headers: { "content-type": type } }));
};
const whole = (sent: Sent): Fetch => serverOf("application/json", textOf(sent));
const lines = (...sent: Sent[]): Fetch =>
  serverOf("application/x-ndjson", sent.map((line) => `${textOf(line)}\n`).join(""));
const events = (...sent: Sent[]): Fetch =>
  serverOf("text/event-stream", sent.map((data) => `data: ${textOf(data)}\n\n`).join(""));
/** Events that have a type, which is their name. */
const named = (...sent: { type: string }[]): Fetch =>
  serverOf(
    "text/event-stream",
    sent.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );

const CLIENTS = {
  chat: (fetch: Fetch) =>
    new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "k" }, { fetch }),
  responses: (fetch: Fetch) =>
    new OpenAIChatCompletionClient({ model: "gpt-4o", apiKey: "k", api: "responses" }, { fetch }),
  claude: (fetch: Fetch) =>
    new AnthropicChatCompletionClient({ model: "claude-sonnet-4-5", apiKey: "k" }, { fetch }),
  ollama: (fetch: Fetch) =>
    new OllamaChatCompletionClient({ model: "qwen3", host: "http://ollama.test" }, { fetch }),
  workersAI: (fetch: Fetch) =>
    new WorkersAIChatCompletionClient(
      { model: "@cf/meta/llama-3.3-70b-instruct-fp8-fast" },
      { ai: { run: () => fetch("https://ai.test") } },
    ),
} satisfies Record<string, (fetch: Fetch) => ChatCompletionClient>;

const STREAMED = /event-stream|ndjson/;

/** The calls of the answer, as `name(arguments)`. */
async function callsOf(client: keyof typeof CLIENTS, fetch: Fetch): Promise<string[]> {
  const asked = CLIENTS[client](fetch);
  const type = (await fetch("https://type.test")).headers.get("content-type") ?? "";
  const { content } = STREAMED.test(type)
    ? (await collect(asked.createStream([user("Hi")]))).result
    : await asked.create([user("Hi")]);
  if (typeof content === "string") return [];
  expect(new Set(content.map(({ id }) => id)).size).toBe(content.length);
  return content.map(({ name, arguments: args }) => `${name}(${args})`);
}

interface Part {
  index?: unknown;
  id?: unknown;
  function?: unknown;
}
/** A part of a call: the name and the arguments are left out where they are undefined. */
const part = (more: Omit<Part, "function">, name?: string | null, args?: unknown): Part => ({
  ...more,
  function: { name, arguments: args },
});
const delta = (...tool_calls: (Part | null)[]) => ({
  choices: [{ index: 0, delta: { tool_calls }, finish_reason: null }],
});
const END = { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] };
const streamed = (...chunks: ReturnType<typeof delta>[]) => events(...chunks, END, "[DONE]");
const answered = (...tool_calls: (Part | null)[]) =>
  whole({ choices: [{ message: { content: null, tool_calls }, finish_reason: "tool_calls" }] });
const old = (...calls: object[]) =>
  events(
    ...calls.map((function_call) => ({ choices: [{ index: 0, delta: { function_call } }] })),
    END,
  );

const A = '{"q":"a"}';
const B = '{"q":"b"}';
const x1 = { index: 0, id: "x1" };

describe("chat completions", () => {
  test.each<[string, Fetch, string[]]>([
    [
      "the name in each chunk",
      streamed(
        delta(part(x1, "lookup", "")),
        delta(part(x1, "lookup", '{"q":')),
        delta(part(x1, "lookup", '"a"}')),
      ),
      [`lookup(${A})`],
    ],
    [
      "the name in each chunk, without an id",
      streamed(
        delta(part({ index: 0 }, "lookup", '{"q":')),
        delta(part({ index: 0 }, "lookup", '"a"}')),
        delta(part({ index: 0 }, "lookup", "")),
      ),
      [`lookup(${A})`],
    ],
    [
      "a name in pieces",
      streamed(delta(part(x1, "look", "")), delta(part({ index: 0 }, "up", A))),
      [`lookup(${A})`],
    ],
    [
      "the name after the arguments",
      streamed(delta(part(x1, null, A)), delta(part({ index: 0 }, "lookup"))),
      [`lookup(${A})`],
    ],
    [
      "no index, by turns, told apart by ids",
      streamed(
        delta(part({ id: "x1" }, "lookup", "")),
        delta(part({ id: "x2" }, "lookup", "")),
        delta(part({ id: "x1" }, undefined, '{"q":')),
        delta(part({ id: "x2" }, undefined, '{"q":')),
        delta(part({ id: "x1" }, undefined, '"a"}')),
        delta(part({ id: "x2" }, undefined, '"b"}')),
      ),
      [`lookup(${A})`, `lookup(${B})`],
    ],
    [
      "no index, an id in the first part only",
      streamed(
        delta(part({ id: "x1" }, "lookup", "")),
        delta(part({}, undefined, A)),
        delta(part({ id: "x2", index: null }, "lookup", "")),
        delta(part({}, undefined, B)),
      ),
      [`lookup(${A})`, `lookup(${B})`],
    ],
    [
      "neither index nor id, told apart by their order",
      streamed(
        delta(part({}, "lookup", '{"q":'), part({}, "search", '{"q":')),
        delta(part({}, undefined, '"a"}'), part({}, undefined, '"b"}')),
      ),
      [`lookup(${A})`, `search(${B})`],
    ],
    [
      "neither index nor id, whole calls",
      streamed(
        delta(part({}, "lookup", A), part({}, "lookup", A)),
        delta(part({}, "clock", "{}")),
        delta(part({}, "clock", "{}")),
        delta(part({}, "lookup", B)),
      ),
      [`lookup(${A})`, `lookup(${A})`, "clock({})", "clock({})", `lookup(${B})`],
    ],
    [
      "one index for all, told apart by ids",
      streamed(
        delta(part(x1, "lookup", "")),
        delta(part({ index: 0, id: "x2" }, "lookup", "")),
        delta(part({ index: 0, id: "x1" }, null, A)),
        delta(part({ index: 0, id: "x2" }, null, B)),
      ),
      [`lookup(${A})`, `lookup(${B})`],
    ],
    [
      "one index for all, no ids, whole calls",
      streamed(
        delta(part({ index: 0 }, "lookup", A)),
        delta(part({ index: 0 }, "lookup", A)),
        delta(part({ index: 0 }, "search", A)),
      ),
      [`lookup(${A})`, `lookup(${A})`, `search(${A})`],
    ],
    [
      "an id of its own in each part",
      streamed(
        delta(part(x1, "lookup", "")),
        delta(part({ index: 0, id: "r2" }, null, '{"q":')),
        delta(part({ index: 0, id: "r3" }, null, '"a"}')),
      ),
      [`lookup(${A})`],
    ],
    [
      "an index of its own in each part",
      streamed(
        delta(part(x1, "lookup", "")),
        delta(part({ index: 1, id: "x1" }, "", '{"q":')),
        delta(part({ index: 2 }, "", '"a"}')),
      ),
      [`lookup(${A})`],
    ],
    [
      "one id for all",
      streamed(
        delta(part({ index: 0, id: "c" }, "lookup", "")),
        delta(part({ index: 1, id: "c" }, "lookup", "")),
        delta(part({ index: 0 }, null, A), part({ index: 1 }, null, B)),
      ),
      [`lookup(${A})`, `lookup(${B})`],
    ],
    ["ids that are numbers", answered(part({ id: 7 }, "lookup", A)), [`lookup(${A})`]],
    [
      "alike calls",
      streamed(delta(part(x1, "lookup", A)), delta(part({ index: 1, id: "x2" }, "lookup", A))),
      [`lookup(${A})`, `lookup(${A})`],
    ],
    [
      "calls without name and arguments",
      streamed(
        delta(part(x1, "lookup", A)),
        delta(part({ index: 1, id: "" }, "", "")),
        delta(null, part({ index: 2 }, null, null), { index: 3 }),
      ),
      [`lookup(${A})`],
    ],
    [
      "calls without name and arguments, whole",
      answered(null, part({ id: "" }, "", "{}"), part({ id: "x1" }, "lookup", A), {}),
      [`lookup(${A})`],
    ],
    ...["", "null", "{}", '""', " {\n} ", null, undefined, {}].map(
      (none): [string, Fetch, string[]] => [
        `no arguments as ${JSON.stringify(none)}`,
        streamed(delta(part(x1, "clock", none))),
        ["clock({})"],
      ],
    ),
    ...["{}", "null", '""', {}].map((start): [string, Fetch, string[]] => [
      `arguments behind ${JSON.stringify(start)}`,
      streamed(
        delta(part(x1, "lookup", start)),
        delta(part({ index: 0 }, undefined, '{"q":')),
        delta(part({ index: 0 }, undefined, '"a"}')),
      ),
      [`lookup(${A})`],
    ]),
    [
      "the arguments once more at the end",
      streamed(
        delta(part(x1, "lookup", '{"q":')),
        delta(part(x1, "", '"a"}')),
        delta(part(x1, "lookup", A)),
      ),
      [`lookup(${A})`],
    ],
    [
      "two objects in one call",
      streamed(delta(part(x1, "lookup", `${A}\n{"q":`)), delta(part(x1, undefined, '"b"}'))),
      [`lookup(${A})`, `lookup(${B})`],
    ],
    [
      "two objects in one whole call",
      answered(part(x1, "lookup", A + B)),
      [`lookup(${A})`, `lookup(${B})`],
    ],
    [
      "arguments encoded twice",
      streamed(delta(part(x1, "lookup", '"{\\"q\\":')), delta(part(x1, undefined, '\\"a\\"}"'))),
      [`lookup(${A})`],
    ],
    ["an object as the arguments", answered(part(x1, "lookup", { q: "a" })), [`lookup(${A})`]],
    [
      "arguments that are cut off",
      streamed(delta(part(x1, "lookup", '{"q":"a'))),
      ['lookup({"q":"a)'],
    ],
    ["arguments that are a text", answered(part(x1, "lookup", '"Rome"')), ['lookup("Rome")']],
    ["a mark of a channel", answered(part(x1, "lookup<|channel|>commentary", A)), [`lookup(${A})`]],
    [
      "a mark of a channel in pieces",
      streamed(delta(part(x1, "lookup<|chan", "")), delta(part(x1, "nel|>json", A))),
      [`lookup(${A})`],
    ],
    [
      "the older form of a call",
      old({ name: "lookup", arguments: "" }, { arguments: A }),
      [`lookup(${A})`],
    ],
    [
      "an integer beyond 2^53 in an object",
      whole(
        `{"choices":[{"message":{"tool_calls":[{"id":"x","function":{"name":"pay","arguments":"{\\"n\\":9007199254740993}"}}]},"finish_reason":"tool_calls"}]}`,
      ),
      ['pay({"n":9007199254740993})'],
    ],
  ])("%s", async (_, fetch, expected) => {
    expect(await callsOf("chat", fetch)).toEqual(expected);
  });

  test("the parts of calls make the same calls, however they are cut and mixed", async () => {
    const call = fc.record({
      name: fc.stringMatching(/^[a-z]{1,9}$/),
      args: fc.json({ maxDepth: 2 }),
    });
    const cuts = fc.array(fc.nat(30), { maxLength: 6 });
    const habits = fc.record({
      names: fc.boolean(),
      ids: fc.boolean(),
      start: fc.constantFrom("", "{}"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 1, maxLength: 3 }),
        cuts,
        habits,
        async (given, at, habit) => {
          const calls = given.map(({ name, args }) => ({
            name,
            args: JSON.stringify({ q: JSON.parse(args) }),
          }));
          const queues = calls.map(({ name, args }, index) => {
            const id = `x${index}`;
            const pieces = piecesOf(args, at);
            return [
              part({ index, id }, name, habit.start),
              ...pieces.map((piece) =>
                part({ index, ...(habit.ids && { id }) }, habit.names ? name : undefined, piece),
              ),
            ];
          });
          const longest = Math.max(...queues.map(({ length }) => length));
          const mixed = Array.from({ length: longest }, (_, place) =>
            queues.flatMap((queue) => queue.slice(place, place + 1)),
          );
          expect(await callsOf("chat", streamed(...mixed.map((parts) => delta(...parts))))).toEqual(
            calls.map(({ name, args }) => `${name}(${args})`),
          );
        },
      ),
      { numRuns: 100 },
    );
  });
});

/** A text cut at the given distances. */
function piecesOf(text: string, distances: readonly number[]): string[] {
  let rest = text;
  const pieces = distances.map((distance) => {
    const piece = rest.slice(0, distance);
    rest = rest.slice(distance);
    return piece;
  });
  return [...pieces, rest];
}

const use = (input?: unknown, id = "t1") => ({ type: "tool_use", id, name: "lookup", input });
const start = (index: number, input?: unknown, id?: string) => ({
  type: "content_block_start",
  index,
  content_block: use(input, id),
});
const json = (index: number, partial_json: string) => ({
  type: "content_block_delta",
  index,
  delta: { type: "input_json_delta", partial_json },
});
const message = (...sent: { type: string }[]) =>
  named(
    { type: "message_start" },
    ...sent,
    { type: "message_delta", delta: { stop_reason: "tool_use" } } as { type: string },
    { type: "message_stop" },
  );
const content = (...blocks: unknown[]) =>
  whole({ type: "message", content: blocks, stop_reason: "tool_use" });
const item = (args: unknown, call_id: unknown = "c1") => ({
  type: "function_call",
  id: "f1",
  call_id,
  name: "lookup",
  arguments: args,
});
const response = (...output: unknown[]) => whole({ status: "completed", output });
const responses = (...sent: (object | string)[]) => events(...sent);
const added = (output_index: number | undefined, call_id = "c1", id?: string) => ({
  type: "response.output_item.added",
  output_index,
  item: { ...item("", call_id), id: id ?? `f-${call_id}` },
});
const argued = (output_index: number | undefined, args: string) => ({
  type: "response.function_call_arguments.delta",
  output_index,
  delta: args,
});
const ended = (output_index: number, args: string) => ({
  type: "response.function_call_arguments.done",
  output_index,
  arguments: args,
});
const completed = (...output: unknown[]) => ({
  type: "response.completed",
  response: { status: "completed", output },
});
const DONE = completed();
const ollama = (...tool_calls: unknown[]) => ({
  message: { content: "", tool_calls },
  done: false,
});

test.each<[keyof typeof CLIENTS, string, Fetch, string[]]>([
  ["claude", "the input in a block's start", message(start(0, { q: "a" })), [`lookup(${A})`]],
  [
    "claude",
    "the input in a block's start and in parts",
    message(start(0, { q: "a" }), json(0, '{"q":'), json(0, '"b"}')),
    [`lookup(${B})`],
  ],
  ["claude", "an empty start", message(start(0, {}), json(0, ""), json(0, A)), [`lookup(${A})`]],
  ["claude", "no input", message(start(0)), ["lookup({})"]],
  [
    "claude",
    "blocks of one index",
    message(start(0, {}), json(0, A), start(0, {}, "t2"), json(0, B)),
    [`lookup(${A})`, `lookup(${B})`],
  ],
  [
    "claude",
    "an input that is text",
    content(use(A), use(JSON.stringify(B), "t2")),
    [`lookup(${A})`, `lookup(${B})`],
  ],
  ["responses", "arguments encoded twice", response(item(JSON.stringify(A))), [`lookup(${A})`]],
  ["responses", "no arguments", response(item(null), item("", "c2")), ["lookup({})", "lookup({})"]],
  ["responses", "two objects in one call", response(item(A + B)), [`lookup(${A})`, `lookup(${B})`]],
  [
    "responses",
    "arguments in delta events alone",
    responses(added(0), added(1, "c2"), argued(0, '{"q":'), argued(1, B), argued(0, '"a"}'), DONE),
    [`lookup(${A})`, `lookup(${B})`],
  ],
  [
    "responses",
    "arguments in delta events, and items without them",
    responses(added(0), argued(0, A), { type: "response.output_item.done", item: item("") }, DONE),
    [`lookup(${A})`],
  ],
  [
    "responses",
    "arguments in delta events, and an item at the end without them",
    responses(added(0), argued(0, A), completed(item(""), item(B, "c2"))),
    [`lookup(${A})`, `lookup(${B})`],
  ],
  [
    "responses",
    "a name and arguments in the event that ends them",
    responses(argued(0, "{"), { ...ended(0, A), name: "lookup" }, DONE),
    [`lookup(${A})`],
  ],
  [
    "responses",
    "each index 0, ids that tell calls apart",
    responses(
      added(0, "c1", "f1"),
      added(0, "c2", "f2"),
      { ...argued(0, A), item_id: "f1" },
      { ...ended(0, B), item_id: "f2" },
      DONE,
    ),
    [`lookup(${A})`, `lookup(${B})`],
  ],
  [
    "responses",
    "neither index nor id",
    responses(added(undefined), argued(undefined, A), "[DONE]"),
    [`lookup(${A})`],
  ],
  [
    "responses",
    "events and items that say the same",
    responses(
      added(0),
      argued(0, A),
      ended(0, A),
      { type: "response.output_item.done", output_index: 0, item: item(A) },
      completed(item(A)),
    ),
    [`lookup(${A})`],
  ],
  [
    "responses",
    "a call that only the last event has",
    responses(
      { type: "response.output_item.done", item: { type: "reasoning", id: "r", summary: [] } },
      completed({ type: "reasoning", id: "r", summary: [] }, item(A)),
    ),
    [`lookup(${A})`],
  ],
  [
    "ollama",
    "null beside calls, arguments as text",
    lines(
      ollama(null, { function: { name: "lookup", arguments: A } }),
      ollama({ function: { name: "lookup", arguments: { q: "a" } } }),
      { done: true },
    ),
    [`lookup(${A})`, `lookup(${A})`],
  ],
  [
    "ollama",
    "no arguments",
    whole({ ...ollama({ function: { name: "clock" } }), done: true }),
    ["clock({})"],
  ],
  [
    "workersAI",
    "calls of the older interface",
    whole({
      response: "",
      tool_calls: [
        null,
        { name: "lookup", arguments: { q: "a" } },
        { name: "lookup", arguments: A },
      ],
    }),
    [`lookup(${A})`, `lookup(${A})`],
  ],
  [
    "workersAI",
    "streamed calls of the older interface",
    events(
      { response: "", tool_calls: [{ name: "lookup", arguments: { q: "a" } }] },
      { response: null, tool_calls: [null, { name: "lookup", arguments: { q: "a" } }] },
      "[DONE]",
    ),
    [`lookup(${A})`, `lookup(${A})`],
  ],
])("%s: %s", async (client, _, fetch, expected) => {
  expect(await callsOf(client, fetch)).toEqual(expected);
});
