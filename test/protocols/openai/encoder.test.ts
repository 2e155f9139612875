import OpenAI, { APIError } from "openai";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { chatFormat } from "#protocols/openai/encoder/chat-encoder.ts";
import { responseFormat } from "#protocols/openai/encoder/response-encoder.ts";
import { type AnswerOptions, answerOptions } from "#protocols/openai/encoder/answer-options.ts";
import type { WholeAnswer } from "#protocols/openai/encoder/sse.ts";
import { frames, stories, streamOf } from "../support/frames.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;

const ABOUT = {
  model: "team:team-1",
  live: null,
  show: "final",
  json: false,
  tools: [],
  previous: null,
  instructions: null,
} as const;

/** What clients may ask for, and what agent is live. */
const asked: fc.Arbitrary<Partial<AnswerOptions>> = fc.record({
  live: fc.constantFrom(null, "writer", "human"),
  show: fc.constantFrom("final", "all"),
  json: fc.boolean(),
  usage: fc.boolean(),
  tools: fc.constantFrom([], ["search"]),
});

function encoded(
  protocol: "chat" | "response",
  stream: readonly StreamFrame[],
  more: Partial<AnswerOptions> = {},
): { text: string; ended: boolean } {
  const options = answerOptions({ ...ABOUT, tools: [] }, { team: "team-1" }, more);
  const { makeEncoder } = protocol === "chat" ? chatFormat : responseFormat;
  const encoder = makeEncoder(options);
  let text = "";
  for (const frame of stream) {
    if (encoder.ended) break;
    text += encoder.encode(frame);
  }
  return { text, ended: encoder.ended };
}

/** The official client, which gets this stream. */
function clientOf(text: string): OpenAI {
  const headers = { "content-type": "text/event-stream" };
  return new OpenAI({
    apiKey: "none",
    maxRetries: 0,
    fetch: () => Promise.resolve(new Response(text, { headers })),
  });
}

/** The only event of the form `whole`. */
function wholeOf(text: string): WholeAnswer {
  const [line = "", ...rest] = text.split("\n\n").filter((one) => one !== "");
  expect(rest).toEqual([]);
  return JSON.parse(line.slice("data: ".length)) as WholeAnswer;
}

const ERRORS = ["model_error", "run_cancelled", "run_paused", "answer_changed"];

test("the client takes any stream as chunks of a completion", async () => {
  await fc.assert(
    fc.asyncProperty(frames, asked, async (stream, options) => {
      const { text, ended } = encoded("chat", stream, options);
      expect(text.endsWith("data: [DONE]\n\n")).toBe(ended);
      if (!ended) return;
      const helper = clientOf(text).chat.completions.stream({ model: "any", messages: [] });
      let content = "";
      helper.on("content", (delta) => (content += delta));
      try {
        const { choices, id } = await helper.finalChatCompletion();
        expect(id).toBe("chatcmpl-team-1.run-1");
        expect(choices).toHaveLength(1);
        expect(choices[0]?.message.content).toBe(content);
        const calls = choices[0]?.message.tool_calls ?? [];
        expect(choices[0]?.finish_reason).toBe(calls.length > 0 ? "tool_calls" : "stop");
      } catch (error) {
        if (!(error instanceof APIError)) throw error;
        expect(ERRORS).toContain(error.code);
      }
    }),
    { numRuns: 300 },
  );
});

test("the client takes any stream as the events of a response", async () => {
  await fc.assert(
    fc.asyncProperty(frames, asked, async (stream, options) => {
      const { text, ended } = encoded("response", stream, options);
      const events: Event[] = [];
      const helper = clientOf(text).responses.stream({ model: "any", input: "" });
      helper.on("event", (event) => events.push(event));
      const final = await helper.finalResponse().catch((error: unknown) => error);
      const numbers = events.map((event) => event.sequence_number);
      expect(numbers[0]).toBe(0);
      for (const [index, number] of numbers.entries()) {
        if (index > 0) expect(number).toBeGreaterThan(numbers[index - 1]!);
      }
      if (!ended) return;
      const last = events.at(-1);
      if (final instanceof APIError) {
        expect(final.code).toBe("run_paused");
        return;
      }
      if (last === undefined || !("response" in last)) throw final;
      const done = events.flatMap((event) =>
        event.type === "response.output_item.done" ? [event.item] : [],
      );
      const byId = (items: readonly object[]) =>
        items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      expect(byId(last.response.output)).toEqual(byId(done));
    }),
    { numRuns: 300 },
  );
});

test("any stream ends as a whole answer where it ends as a stream", () => {
  fc.assert(
    fc.property(frames, asked, fc.boolean(), (stream, options, now) => {
      for (const protocol of ["chat", "response"] as const) {
        const whole = encoded(protocol, stream, { ...options, now, form: "whole" });
        if (!whole.ended) {
          expect(whole.text).toBe("");
          continue;
        }
        const { status, body } = wholeOf(whole.text);
        if (protocol === "response") expect(status).toBe(200);
        else expect(status === 200).toBe("choices" in body);
      }
    }),
    { numRuns: 300 },
  );
});

test("a stream has the content of the whole answer", async () => {
  await fc.assert(
    fc.asyncProperty(frames, asked, async (stream, options) => {
      const given = { ...options, live: null };
      const whole = encoded("chat", stream, { ...given, form: "whole" });
      const { text } = encoded("chat", stream, given);
      if (!whole.ended || wholeOf(whole.text).status !== 200) return;
      const helper = clientOf(text).chat.completions.stream({ model: "any", messages: [] });
      const [choice] = (await helper.finalChatCompletion()).choices;
      const { choices } = wholeOf(whole.text).body as OpenAI.ChatCompletion;
      expect(choices[0]?.message.content ?? "").toBe(choice?.message.content);
      expect(choices[0]?.message.tool_calls).toEqual(choice?.message.tool_calls);
    }),
    { numRuns: 300 },
  );
});

test("a response that is read again has the same events and numbers", () => {
  fc.assert(
    fc.property(stories, fc.nat(60), (story, joined) => {
      const eventsOf = (stream: StreamFrame[]): string[] =>
        encoded("response", stream)
          .text.split("\n\n")
          // The run is shown as it is when the stream is opened.
          .map((event) => event.replace(/"response":.*"sequence_number"/, ""));
      const live = eventsOf(streamOf(story, 0));
      const later = eventsOf(streamOf(story, Math.min(joined, story.happenings.length)));
      const shorter = Math.min(live.length, later.length);
      const answer = (events: string[]): string[] =>
        events.filter((event) => !/response\.(queued|created|in_progress)/.test(event));
      if (story.happenings.some(({ run }) => ["waiting", "paused"].includes(run.status))) return;
      expect(answer(later)).toEqual(answer(live));
      expect(shorter).toBeGreaterThan(0);
    }),
    { numRuns: 300 },
  );
});
