import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type ChatCompletionClient,
  type CreateResult,
  ModelError,
  OpenAIChatCompletionClient,
} from "troupe";
import { startFakeOpenAI } from "../../../support/fake-openai/server.ts";
import { collect, user } from "../support.ts";
import { CLIENTS } from "./clients.ts";

const ANALYSIS = "<|channel|>analysis<|message|>";
const FINAL = "<|start|>assistant<|channel|>final<|message|>";
const HTML = "<article><p>Why?</p><reasoning>Because.</reasoning></article>";

/** The text of an answer, its thought, and its content if that is not the whole text. */
const ANSWERS: readonly (readonly [text: string, thought: string | null, content?: string])[] = [
  ["<think>\nfirst then\n</think>\n\nThe answer.", "first then", "The answer."],
  ["\n <thinking>first</thinking>The answer.", "first", "The answer."],
  ["<Reasoning>first</Reasoning> The answer.", "first", "The answer."],
  ["<thought>first</thought>The answer.", "first", "The answer."],
  ["[THINK]first[/THINK]The answer.", "first", "The answer."],
  ["<think>\n\n</think>\n\nThe answer.", "", "The answer."],
  ["<think>one</think>\n<think>two</think>The answer.", "one\n\ntwo", "The answer."],
  ["<think>has `</thinking>` in it</think>The answer.", "has `</thinking>` in it", "The answer."],
  ["<think>one</think>Not </think> again.", "one", "Not </think> again."],
  // The beginning is lost.
  ["Let me see.\n</think>\n\nHi", "Let me see.", "Hi"],
  ["Let me see.</thinking>Hi `there`", "Let me see.", "Hi `there`"],
  ["The `x` is it.</reasoning>Hi", "The `x` is it.", "Hi"],
  ["```\ncode\n```\nSo.\n</think>\nHi", "```\ncode\n```\nSo.", "Hi"],
  ["</think>\n\nHi", "", "Hi"],
  // Channels of gpt-oss
  [`${ANALYSIS}first<|end|>${FINAL}The answer.<|return|>`, "first", "The answer."],
  [
    `<|start|>assistant${ANALYSIS}first<|channel|>final<|message|>The answer.`,
    "first",
    "The answer.",
  ],
  [
    `${ANALYSIS}one<|end|><|start|>assistant<|channel|>commentary<|message|>two<|end|>${FINAL}Hi`,
    "one\n\ntwo",
    "Hi",
  ],
  ["<|channel|>final<|message|>The answer.", null, "The answer."],
  ["<|channel|>commentary<|message|>The answer.<|end|>", null, "The answer."],
  [`first<|end|>${FINAL}The answer.`, "first", "The answer."],
  // What is text
  ["no tags", null],
  ["<think>not closed", null],
  ["<thinker>x</thinker> is a name.", null],
  ["The tag <think>x</think> means thinking.", null],
  [HTML, null],
  ['<p>x</p><reasoning class="a">Because.</reasoning>', null],
  [`\`\`\`html\n${HTML}</think>\n\`\`\`\nThat is it.`, null],
  ["A thought ends with `</think>`, always.", null],
  ["~~~\n</think>\n~~~", null],
  ['{"html": "a</think>b"}', null],
];

const CASES = ANSWERS.map(([text, thought, content = text]) => ({ text, thought, content }));

describe.each(CLIENTS)("$name", ({ connect }) => {
  test.each(CASES)("$text", async ({ text, thought, content }) => {
    await using fake = await startFakeOpenAI({
      rules: [{ name: "reply", reply: { content: text } }],
    });
    const client = connect(fake.origin);
    expect(await client.create([user("Hi")])).toMatchObject({ content, thought });
    await streamed(client, { text, content, thought });
  });

  test("a thought that was cut off is not an answer", async () => {
    const reply = { content: "<think>Let me", finish_reason: "length" };
    await using fake = await startFakeOpenAI({ rules: [{ name: "reply", reply }] });
    await expect(connect(fake.origin).create([user("Hi")])).rejects.toMatchObject({
      code: "model_empty_response",
      retryable: false,
    });
  });

  test("a thought beside calls has no tags", async () => {
    const tool_calls = [{ id: "c1", name: "add", arguments: {} }];
    const reply = { content: "<think>I add.</think>\nLet me add.", tool_calls };
    await using fake = await startFakeOpenAI({ rules: [{ name: "reply", reply }] });
    const result = await connect(fake.origin).create([user("Hi")]);
    expect(result).toMatchObject({ thought: "I add.\n\nLet me add.", content: [{ name: "add" }] });
  });

  test("a config with thought_tags: text leaves tags in the text", async () => {
    const content = "<think>first</think>The answer.";
    await using fake = await startFakeOpenAI({ rules: [{ name: "reply", reply: { content } }] });
    const client = connect(fake.origin, { thoughtTags: "text" });
    expect(client.toConfig()).toMatchObject({ thought_tags: "text" });
    expect(await client.create([user("Hi")])).toMatchObject({ content, thought: null });
    const { pieces, result } = await collect(client.createStream([user("Hi")]));
    expect(result).toMatchObject({ content, thought: null });
    expect(pieces.join("")).toBe(content);
  });
});

/** Streams an answer and checks what was shown since it last started over: its thought between tags, and its content. */
async function streamed(
  client: ChatCompletionClient,
  { text, content, thought }: { text: string; content: string; thought: string | null },
): Promise<void> {
  let pieces: string[] = [];
  const startOver = (): void => {
    pieces = [];
  };
  const stream = client.createStream([user("Hi")], { startOver });
  let next = await stream.next();
  for (; !next.done; next = await stream.next()) pieces.push(next.value);
  expect(next.value).toMatchObject({ content, thought });
  const shown = pieces.join("");
  if (content === text) expect(shown).toBe(text);
  if (!thought) return;
  const [, between = "", after = ""] = /^<think>([\s\S]*?)<\/think>([\s\S]*)$/.exec(shown) ?? [];
  expect(between.replaceAll(/\s/g, "")).toBe(thought.replaceAll(/\s/g, ""));
  expect(after.replace("<|return|>", "").trim()).toBe(content);
}

describe("an answer in pieces", () => {
  const event = (delta: object, finish_reason: string | null = null): string =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

  /** A client whose server answers with a text, whole or in these pieces. */
  function clientOf(pieces: readonly string[]): ChatCompletionClient {
    const answer = async (_: unknown, init?: { body?: unknown }): Promise<Response> => {
      const isStream = String(init?.body).includes('"stream":true');
      const message = { role: "assistant", content: pieces.join("") };
      if (!isStream) return Response.json({ choices: [{ message, finish_reason: "stop" }] });
      const events = pieces.map((content) => event({ content })).join("");
      return new Response(`${events}${event({}, "stop")}data: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    };
    return new OpenAIChatCompletionClient(
      { model: "gpt-4o", apiKey: "k", baseURL: "http://model.test/v1" },
      { fetch: answer },
    );
  }

  const parts = [
    "<think>",
    "</think>",
    "<reasoning>",
    "</reasoning>",
    "[THINK]",
    "[/THINK]",
    ANALYSIS,
    "<|end|>",
    FINAL,
    "`",
    "```\n",
    "~~~\n",
    "\n",
    " ",
    "{",
    '"',
    "<",
    "word",
    "Grüße 🙂",
  ];
  const pieces = fc.array(fc.constantFrom(...parts), { maxLength: 12 }).chain((texts) => {
    const text = texts.join("");
    const cuts = fc.array(fc.nat({ max: text.length }), { maxLength: 20 });
    return cuts.map((places) => {
      const sorted = [0, ...places.toSorted((a, b) => a - b), text.length];
      return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
    });
  });

  test("equals the answer in one piece", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        const client = clientOf(given);
        const outcome = async (asked: Promise<CreateResult>): Promise<unknown> =>
          asked.catch((error: unknown) => (error instanceof ModelError ? error.code : error));
        const whole = await outcome(client.create([user("Hi")]));
        const stream = collect(client.createStream([user("Hi")]));
        expect(await outcome(stream.then(({ result }) => result))).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  test("whose text begins with no tag is shown as it arrives", async () => {
    await fc.assert(
      fc.asyncProperty(pieces, async (given) => {
        const plain = ["It", ...given.map((piece) => piece.replaceAll(/[<>[\]|]/g, ""))];
        const { pieces: shown, result } = await collect(clientOf(plain).createStream([user("Hi")]));
        expect(shown).toEqual(plain.filter((piece) => piece !== ""));
        expect(result).toMatchObject({ content: plain.join(""), thought: null });
      }),
      { numRuns: 100 },
    );
  });
});
