import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { makeAgUiEncoder } from "#api/protocols/ag-ui/encoder/encoder.ts";
import type { JsonObject } from "#core/json.ts";
import { OldestHttpAgent } from "../../../../peers/ag-ui.ts";
import { casesOf } from "../../../../support/samples.ts";
import { startFakeOpenAI } from "../../../../support/fake-openai/server.ts";
import { TestWorker } from "../../../../support/worker.ts";
import { newTeam, writer } from "../../support/teams.ts";
import { madeUpMessage } from "../../support/made-up-messages.ts";
import { RunSimulator } from "../../support/run-simulator.ts";
import { readStream } from "../support/agents.ts";

const TIME = "2026-11-23T04:00:00.000Z";
const CALL = { id: "call_1", name: "search", arguments: "{}" };

const opening: StreamFrame = { event: "run", data: new RunSimulator(false).info };

let cursor = 0;

/** A message of the log. */
function logged(id: string, type: string, content: string, more: JsonObject = {}): StreamFrame {
  const data = madeUpMessage(id, "writer", type, content, TIME, more);
  return { event: "message", id: String(++cursor), data };
}

function piece(content: string): StreamFrame {
  const own = { full_message_id: "m1" };
  const type = "ModelClientStreamingChunkEvent";
  return {
    event: "message",
    data: madeUpMessage(`p${content}`, "writer", type, content, TIME, own),
  };
}

const DISCARD: StreamFrame = {
  event: "discard",
  data: { full_message_id: "m1", source: "writer" },
};

/** What the official client has of such a stream, and the events that it took. */
async function read(...stream: StreamFrame[]) {
  const encoder = makeAgUiEncoder({
    threadId: "thread-1",
    runId: "run-1",
    state: "none",
    raw: false,
    reasoning: true,
    dropped: [],
    thread: [],
    old: false,
  });
  const text = [opening, ...stream].map((one) => encoder.encode(one)).join("");
  const { agent, events } = await readStream(text);
  const types = events.map(({ type }) => type).filter((type) => !type.startsWith("STEP_"));
  return { messages: agent.messages, events, types };
}

const spoken = fc.string({ minLength: 1, maxLength: 20 }).map((text) => `a${text.trim()}`);

test("reasoning that streams before an answer is reasoning from its first piece, wherever the pieces are cut", async () => {
  await fc.assert(
    fc.asyncProperty(spoken, spoken, fc.array(fc.nat(60)), async (thought, answer, cuts) => {
      fc.pre(!thought.includes("</think>"));
      const whole = `<think>\n${thought}\n</think>\n\n${answer}`;
      const ends = [0, ...cuts.filter((cut) => cut < whole.length), whole.length].toSorted(
        (a, b) => a - b,
      );
      const pieces = ends.slice(1).map((end, index) => whole.slice(ends[index], end));
      const { messages, types } = await read(
        ...pieces.filter((text) => text !== "").map(piece),
        logged("m1", "ThoughtEvent", thought),
        logged("m2", "TextMessage", answer),
      );
      expect(messages.map(({ role, content }) => [role, (content as string).trim()])).toEqual([
        ["reasoning", thought],
        ["assistant", answer],
      ]);
      expect(types).not.toContain("MESSAGES_SNAPSHOT");
    }),
    { numRuns: casesOf(200) },
  );
});

test("the answer behind a thought streams, and ends with the metadata of its message", async () => {
  const { events, types } = await read(
    piece("<think>Hm."),
    piece("</think>It"),
    piece(" is."),
    logged("m1", "ThoughtEvent", "Hm."),
    logged("m2", "TextMessage", "It is."),
  );
  expect(types).toEqual([
    "RUN_STARTED",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_CONTENT",
    "REASONING_MESSAGE_END",
    "REASONING_END",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
  ]);
  expect(events.find(({ type }) => type === "TEXT_MESSAGE_END")).toMatchObject({
    messageId: "m1-answer",
    metadata: { troupe: { type: "TextMessage" } },
  });
});

test("reasoning before calls of tools stays, though no message of the log contains it", async () => {
  const { messages, types } = await read(
    piece("<think>I search.</think>"),
    logged("m2", "ToolCallRequestEvent", "", { content: [CALL] }),
  );
  expect(messages).toMatchObject([
    { id: "m1", role: "reasoning", content: "I search." },
    { role: "assistant", toolCalls: [{ id: "m2:call_1" }] },
  ]);
  expect(types).not.toContain("MESSAGES_SNAPSHOT");
});

test("a text behind reasoning and before calls becomes the message that the calls are of", async () => {
  const { messages, types } = await read(
    piece("<think>I search.</think>Let me see."),
    logged("m1", "ThoughtEvent", "Let me see."),
    logged("m2", "ToolCallRequestEvent", "", { content: [CALL] }),
  );
  expect(messages).toMatchObject([
    { id: "m1", role: "reasoning", content: "I search." },
    { role: "assistant", content: "Let me see.", toolCalls: [{ id: "m2:call_1" }] },
  ]);
  expect(types).not.toContain("MESSAGES_SNAPSHOT");
});

test("a model that is called again reasons again, beside the reasoning of its first attempt", async () => {
  const { messages } = await read(
    piece("<think>Hm"),
    DISCARD,
    piece("<think>So.</think>Yes."),
    logged("m1", "ThoughtEvent", "So."),
    logged("m2", "TextMessage", "Yes."),
  );
  expect(messages).toMatchObject([
    { id: "m1", role: "reasoning", content: "Hm" },
    { id: "m1~2", role: "reasoning", content: "So." },
    { role: "assistant", content: "Yes." },
  ]);
});

test("an answer that differs from the logged one behind its thought is withdrawn", async () => {
  const streamed = [piece("<think>So.</think>Yes"), logged("m1", "ThoughtEvent", "So.")];
  const other = await read(...streamed, logged("m2", "TextMessage", "No."));
  expect(other.messages).toMatchObject([
    { id: "m1", role: "reasoning", content: "So." },
    { id: "m2", role: "assistant", content: "No." },
  ]);
  const failed = { status: 500, code: "model_error", detail: "It failed.", run_id: "run-1" };
  const data = { ...failed, type: "urn:troupe:problem:model_error", title: "Model error" };
  const none = await read(...streamed, { event: "failed", id: "9", data });
  expect(none.messages).toMatchObject([{ id: "m1", role: "reasoning", content: "So." }]);
});

test("a text without tags that resembles the start of one stays that text", async () => {
  const { messages } = await read(piece("<thi"), logged("m1", "TextMessage", "<thi"));
  expect(messages).toMatchObject([{ id: "m1", role: "assistant", content: "<thi" }]);
});

test("a client before 0.0.45, which knows no reasoning, can decline it", async () => {
  const reply = { reasoning: "Hm.", content: "It is." };
  await using model = await startFakeOpenAI({ rules: [{ name: "reasons", reply }] });
  const settings = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url };
  await using worker = await TestWorker.start(settings);
  await newTeam(worker, { id: "team", component: writer() });
  const url = new URL("/ag-ui/teams/team", await worker.origin).href;
  const forwardedProps = { troupe: { reasoning: false } };
  const agent = new OldestHttpAgent({ url });
  agent.messages.push({ id: "1", role: "user", content: "Is it?" });
  await agent.runAgent({ forwardedProps });
  const said = [{ role: "user" }, { role: "assistant", content: "It is." }];
  expect(agent.messages).toMatchObject(said);
  const reloaded = new OldestHttpAgent({ url });
  await reloaded.runAgent({ forwardedProps });
  expect(reloaded.messages).toMatchObject(said);
});
