import OpenAI, { APIError } from "openai";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { isChatMessage, toText } from "#core/messages/views.ts";
import { chatFormat } from "#api/protocols/openai/encoder/chat-encoder.ts";
import { responseFormat } from "#api/protocols/openai/encoder/response-encoder.ts";
import { type AnswerOptions, answerOptions } from "#api/protocols/openai/encoder/answer-options.ts";
import type { WholeAnswer } from "#api/protocols/openai/encoder/sse.ts";
import { actions } from "../../support/actions.ts";
import { RunSimulator } from "../../support/run-simulator.ts";
import { frames, piecesOf, stories, streamOf } from "../../support/frames.ts";
import { casesOf } from "../../../../support/samples.ts";

type Event = OpenAI.Responses.ResponseStreamEvent;

const ABOUT = {
  model: "team:team-1",
  live: null,
  show: "final",
  json: false,
  tools: [],
  previous: null,
  instructions: null,
  kept: true,
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
    text += encoder.encode(frame, piecesOf(frame));
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

test("the client accepts any stream as chunks of a completion", async () => {
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
    { numRuns: casesOf(300) },
  );
});

test("the client accepts any stream as the events of a response", async () => {
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
        expect(["run_paused", "answer_changed"]).toContain(final.code);
        return;
      }
      if (last === undefined || !("response" in last)) throw final;
      const done = events.flatMap((event) =>
        event.type === "response.output_item.done" && !isVoidText(event.item) ? [event.item] : [],
      );
      const byId = (items: readonly object[]) =>
        items.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
      expect(byId(last.response.output)).toEqual(byId(done));
    }),
    { numRuns: casesOf(300) },
  );
});

/** A text that was given up is in no output. */
function isVoidText(item: OpenAI.Responses.ResponseOutputItem): boolean {
  return (
    ["message", "reasoning"].includes(item.type) && "status" in item && item.status === "incomplete"
  );
}

test("any stream gives a whole answer where it ends as a stream", () => {
  fc.assert(
    fc.property(frames, asked, fc.boolean(), (stream, options, now) => {
      for (const protocol of ["chat", "response"] as const) {
        const whole = encoded(protocol, stream, { ...options, now, form: "whole" });
        if (!whole.ended) {
          expect(whole.text).toBe("");
          continue;
        }
        const { status, body } = wholeOf(whole.text);
        if (protocol === "response" && now) expect(status).toBe(200);
        expect(status).toBe(
          "error" in body && body.error !== null && !("output" in body) ? 400 : 200,
        );
      }
    }),
    { numRuns: casesOf(300) },
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
    { numRuns: casesOf(300) },
  );
});

/** The events of a stream, and the error that it ended with. */
function eventsOf(text: string): { events: Event[]; error: { code: string } | undefined } {
  const all = text
    .split("\n\n")
    .filter((one) => one !== "")
    .map((one) => JSON.parse(one.slice(one.indexOf("data: ") + 6)) as Event);
  const error = all.find(({ type }) => type === "error") as { code: string } | undefined;
  return { events: all.filter(({ type }) => type !== "error"), error };
}

/** The run is shown as it is when the stream is opened. */
function withoutRun(event: Event): unknown {
  return "response" in event ? { ...event, response: undefined } : event;
}

function endsVoid(event: Event): boolean {
  return event.type === "response.output_item.done" && isVoidText(event.item);
}

function deltasOf(events: readonly Event[]): string {
  return events
    .flatMap((event) => (event.type === "response.output_text.delta" ? [event.delta] : []))
    .join("");
}

test("a response that is read again has the same events, pieces and numbers", () => {
  fc.assert(
    fc.property(stories, fc.nat(60), fc.boolean(), (story, joined, isLive) => {
      const live = isLive ? "writer" : null;
      const read = (at: number) => {
        const { text, ended } = encoded("response", streamOf(story, at), { live });
        return { ...eventsOf(text), ended };
      };
      const first = read(0);
      const again = read(Math.min(joined, story.happenings.length));
      if (story.happenings.some(({ run }) => ["waiting", "paused"].includes(run.status))) return;
      // What was void by then does not come again, and what is void later was not shown as the answer.
      if (!first.ended || first.error !== undefined || first.events.some(endsVoid)) return;
      const answer = ({ events }: { events: Event[] }): unknown[] =>
        events
          .filter(({ type }) => !/response\.(queued|created|in_progress)/.test(type))
          // A text whose pieces do not name their message has the id of its message only when that is known.
          .map((event) => JSON.stringify(withoutRun(event)).replaceAll(/"msg_[^"]*"/g, '"msg"'));
      expect(answer(again)).toEqual(answer(first));
    }),
    { numRuns: casesOf(300) },
  );
});

/** A response ends where it asks. The item of a text without the id of its message has another id when the message is known. */
const unasked = actions
  .filter(({ do: action }) => action !== "ask" && action !== "delegate")
  .map((action) => (action.do === "stream" ? { ...action, named: true } : action));

test("a client that continues gets the text of the log, as an item of its own if it has another text", () => {
  fc.assert(
    fc.property(
      fc.array(unasked, { maxLength: 20, size: "max" }),
      fc.array(unasked, { maxLength: 20, size: "max" }),
      fc.boolean(),
      fc.nat(30),
      (before, after, killed, left) => {
        const run = new RunSimulator(false);
        const beginning = run.info;
        for (const action of before) run.act(action);
        const { length } = run.happenings;
        const early = streamOf({ beginning, happenings: [...run.happenings] }, 0);
        if (killed) run.interrupt();
        for (const action of after) run.act(action);
        run.end("completed");
        const options = { live: "writer" };
        const seen = eventsOf(encoded("response", early, options).text).events.slice(0, left);
        const startingAfter = seen.at(-1)?.sequence_number ?? -1;
        const story = { beginning, happenings: run.happenings };
        const later = streamOf(story, length + (killed ? 1 : 0));
        const rest = eventsOf(encoded("response", later, { ...options, startingAfter }).text);
        if (rest.error !== undefined) {
          expect(["answer_changed", "run_paused"]).toContain(rest.error.code);
          return;
        }
        const last = rest.events.at(-1);
        if (last?.type !== "response.completed") return;
        // What an item of the response has is what its events have said.
        for (const item of last.response.output) {
          if (item.type !== "message") continue;
          const own = [...seen, ...rest.events].filter(
            (event) => "item_id" in event && event.item_id === item.id,
          );
          const texts = item.content.map((part) => ("text" in part ? part.text : ""));
          expect(deltasOf(own)).toBe(texts.join(""));
        }
      },
    ),
    { numRuns: casesOf(1000) },
  );
});

test("the streamed answer is in the log, or the stream ends with an error", async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const stream = streamOf(story, 0);
      const { text, ended } = encoded("chat", stream, { live: "writer" });
      const { events, error } = eventsOf(encoded("response", stream, { live: "writer" }).text);
      const last = events.at(-1);
      if (!ended || error !== undefined || last?.type !== "response.completed") return;
      const said = textsOf(stream);
      for (const item of last.response.output) {
        if (item.type !== "message") continue;
        for (const part of item.content) if ("text" in part) expect(said).toContain(part.text);
      }
      const helper = clientOf(text).chat.completions.stream({ model: "any", messages: [] });
      const content = await helper.finalChatCompletion().then(
        ({ choices: [choice] }) => choice?.message.content ?? "",
        (problem: unknown) => {
          expect((problem as APIError).code).toBe("answer_changed");
        },
      );
      if (content === undefined || said.requests) return;
      const output = last.response.output.flatMap((item) =>
        item.type === "message"
          ? item.content.map((part) => ("text" in part ? part.text : ""))
          : [],
      );
      expect(content).toBe(output.join("\n\n"));
    }),
    { numRuns: casesOf(500) },
  );
});

/** What messages and events of the log say, and questions. */
function textsOf(stream: readonly StreamFrame[]): string[] & { requests?: boolean } {
  const texts: string[] & { requests?: boolean } = [];
  for (const frame of stream) {
    if (frame.event === "run" && frame.data.requests.length > 0) {
      texts.requests = true;
      texts.push(...frame.data.requests.map(({ prompt }) => prompt));
    }
    if (frame.event !== "message" || frame.id === undefined || "message_ids" in frame.data)
      continue;
    if (isChatMessage(frame.data)) texts.push(toText(frame.data));
    else if ("content" in frame.data && typeof frame.data.content === "string")
      texts.push(frame.data.content);
  }
  return texts;
}
