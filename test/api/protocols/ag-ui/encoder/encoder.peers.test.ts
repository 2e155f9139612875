import * as fc from "fast-check";
import { afterEach, beforeEach, expect, type MockInstance, test, vi } from "vitest";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import type { JsonObject } from "#core/json.ts";
import { isChatMessage, toText } from "#core/messages/views.ts";
import { makeAgUiEncoder } from "#api/protocols/ag-ui/encoder/encoder.ts";
import { type AgUiOptions, formatOf } from "#api/protocols/ag-ui/wire/options.ts";
import { EventSchema, OldHttpAgent } from "../../../../peers/ag-ui.ts";
import { readStream } from "../support/agents.ts";
import { encodedOverPauses, frames, stories, streamOf } from "../../support/frames.ts";
import { madeUpMessage } from "../../support/made-up-messages.ts";
import { RunSimulator } from "../../support/run-simulator.ts";
import { casesOf } from "../../../../support/samples.ts";

const OPTIONS: AgUiOptions = {
  threadId: "thread-1",
  runId: "run-1",
  state: "whole",
  raw: false,
  reasoning: true,
  interrupts: true,
  subagents: null,
  activity: false,
  dropped: [],
  thread: [],
  old: false,
};

/** What clients of 1.0 get, too. */
const SHOWN = { subagents: { writer: ["desk"], critic: ["house", "desk"] }, activity: true };

const TIME = "2026-11-23T04:00:00.000Z";

/** What the client says of things that the protocol does not know. */
let warnings: MockInstance;

beforeEach(() => {
  warnings = vi.spyOn(console, "warn").mockReturnValue();
});

afterEach(() => {
  vi.restoreAllMocks();
});

function encoded(stream: readonly StreamFrame[], options: Partial<AgUiOptions> = {}): string {
  const encoder = makeAgUiEncoder(formatOf({ ...OPTIONS, ...options }).options);
  let text = "";
  for (const frame of stream) {
    if (encoder.ended) break;
    text += encoder.encode(frame);
  }
  return text;
}

const shares = fc.constantFrom("whole", "part", "none");

test("the client accepts any stream", async () => {
  await fc.assert(
    fc.asyncProperty(frames, fc.boolean(), shares, async (stream, raw, state) => {
      warnings.mockClear();
      const text = encoded(stream, { raw, state, ...SHOWN });
      const { events } = await readStream(text);
      const sent = eventsIn(text);
      expect(events).toEqual(sent);
      for (const event of sent) expect(EventSchema.parse(event)).toEqual(event);
      expect(warnings).not.toHaveBeenCalled();
    }),
    { numRuns: casesOf(100) },
  );
});

test("a client before 1.0 accepts any stream, too", async () => {
  const log = vi.spyOn(console, "error").mockReturnValue();
  await fc.assert(
    fc.asyncProperty(frames, shares, async (stream, state) => {
      const text = encoded(stream, { state, old: true, interrupts: false, ...SHOWN });
      const events: unknown[] = [];
      const headers = { "content-type": "text/event-stream" };
      const agent = new OldHttpAgent({
        url: "http://troupe.test/",
        fetch: () => Promise.resolve(new Response(text, { headers })),
      });
      await agent.runAgent({}, { onEvent: ({ event }) => void events.push(event) });
      expect(events).toHaveLength(eventsIn(text).length);
    }),
    { numRuns: casesOf(100) },
  );
  expect(log).not.toHaveBeenCalled();
});

test("the client holds the content of the log when the run ends or waits", async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const stream = streamOf(story, 0);
      const text = encoded(stream);
      const end = eventsIn(text).at(-1) as { type: string } | undefined;
      // A connection that ends in the middle is opened again, and gets the whole conversation.
      if (end?.type !== "RUN_FINISHED" && end?.type !== "RUN_ERROR") return;
      const { agent } = await readStream(text);
      const said = agent.messages.flatMap(({ role, content, metadata }) =>
        (role === "assistant" || role === "user") && !isThought(metadata) ? [textIn(content)] : [],
      );
      const retracted = new Set(
        stream.flatMap((frame) => (frame.event === "retract" ? frame.data.message_ids : [])),
      );
      const logged = untilWaiting(stream).flatMap((frame) =>
        frame.event === "message" &&
        frame.id !== undefined &&
        !("message_ids" in frame.data) &&
        isChatMessage(frame.data) &&
        !retracted.has(frame.data.id)
          ? [toText(frame.data)]
          : [],
      );
      if (retracted.size > 0) {
        for (const one of said) expect(["", ...textsIn(stream)]).toContain(one);
        return;
      }
      const left = said.filter((one) => one !== "");
      for (const one of logged.filter((line) => line !== "")) {
        expect(left).toContain(one);
        left.splice(left.indexOf(one), 1);
      }
      // What an event says was streamed, too.
      for (const one of left) expect(textsIn(stream)).toContain(one);
    }),
    { numRuns: casesOf(100) },
  );
});

test("the client holds the same where another encoder continues after each pause", async () => {
  await fc.assert(
    fc.asyncProperty(stories, fc.boolean(), async (story, old) => {
      warnings.mockClear();
      const { options } = formatOf({ ...OPTIONS, old, ...SHOWN });
      const text = encodedOverPauses(story, () => makeAgUiEncoder(options));
      const { agent } = await readStream(text);
      expect(warnings).not.toHaveBeenCalled();
      const [own, whole] = [eventsIn(text), encoded(streamOf(story, 0), { old, ...SHOWN })];
      expect(own.at(-1)).toEqual(eventsIn(whole).at(-1));
      expect(withoutVoidResults(agent)).toEqual(
        withoutVoidResults((await readStream(whole)).agent),
      );
    }),
    { numRuns: casesOf(200) },
  );
});

test("a turn that is repeated after a pause is another subagent, whichever encoder continues", async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const { options } = formatOf({ ...OPTIONS, ...SHOWN });
      const events = eventsIn(encodedOverPauses(story, () => makeAgUiEncoder(options)));
      const started = events.flatMap((event) => {
        const { type, subagentRunId } = event as { type: string; subagentRunId?: string };
        return type === "SUBAGENT_STARTED" ? [subagentRunId] : [];
      });
      expect(new Set(started).size).toBe(started.length);
    }),
    { numRuns: casesOf(100) },
  );
});

/** Without results of calls that have none: an encoder that continues does not know that the client was asked to make one. */
function withoutVoidResults({
  messages,
}: {
  messages: readonly { metadata?: unknown }[];
}): unknown {
  return messages.filter(({ metadata }) => !JSON.stringify(metadata ?? {}).includes('"void":true'));
}

/** Messages of users are parts where they have pictures. */
function textIn(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content.map((part: { text?: string }) => part.text ?? "<image>").join("\n");
}

function isThought(metadata: unknown): boolean {
  return JSON.stringify(metadata ?? {}).includes("ThoughtEvent");
}

/** What recorded messages and events say. */
function textsIn(stream: readonly StreamFrame[]): string[] {
  return stream.flatMap((frame) => {
    if (frame.event !== "message" || frame.id === undefined || "message_ids" in frame.data)
      return [];
    if (isChatMessage(frame.data)) return [toText(frame.data)];
    return "content" in frame.data && typeof frame.data.content === "string"
      ? [frame.data.content]
      : [];
  });
}

test("the client has every message of a run, under its agent's name", async () => {
  await fc.assert(
    fc.asyncProperty(stories, async (story) => {
      const stream = streamOf(story, 0);
      const { agent } = await readStream(encoded(stream));
      const said = agent.messages.map((one) => JSON.stringify([nameOf(one), textIn(one.content)]));
      if (stream.some(({ event }) => event === "retract")) return;
      for (const frame of untilWaiting(stream)) {
        if (frame.event !== "message" || "message_ids" in frame.data) continue;
        if (!isChatMessage(frame.data)) continue;
        const { source } = frame.data;
        expect(said).toContain(JSON.stringify([source, toText(frame.data)]));
      }
    }),
    { numRuns: casesOf(50) },
  );
});

function nameOf({ name, role }: { role: string; name?: string }): string {
  return name ?? role;
}

function untilWaiting(stream: readonly StreamFrame[]): StreamFrame[] {
  const end = stream.findIndex(({ event, data }) => event === "run" && data.status === "waiting");
  return stream.slice(0, end === -1 ? undefined : end);
}

function message(id: string, type: string, text: string, fields: object = {}): StreamFrame {
  const data = madeUpMessage(id, "writer", type, text, TIME, fields as { content: object[] });
  return type === "ModelClientStreamingChunkEvent"
    ? { event: "message", data }
    : { event: "message", id: "1", data };
}

const opening: StreamFrame = { event: "run", data: new RunSimulator(false).info };
const piece = (text: string): StreamFrame =>
  message(`m1:${text}`, "ModelClientStreamingChunkEvent", text, { full_message_id: "m1" });

test("a text that turns out to be a thought becomes the message that its tool calls are of", async () => {
  const call = { id: "call_1", name: "search", arguments: '{"query":"x"}' };
  const result = { call_id: "call_1", name: "search", content: "y", is_error: true };
  const stream = [
    opening,
    piece("Let me "),
    piece("see."),
    message("m1", "ThoughtEvent", "Let me see."),
    message("m2", "ToolCallRequestEvent", "", { content: [call] }),
    message("m3", "ToolCallExecutionEvent", "", { content: [result] }),
  ];
  const { agent } = await readStream(encoded(stream));
  const own = { name: "search", arguments: '{"query":"x"}' };
  const metadata = { troupe: { source: "writer" } };
  expect(agent.messages).toEqual([
    {
      id: "m1",
      role: "assistant",
      name: "writer",
      content: "Let me see.",
      toolCalls: [{ id: "m2:call_1", type: "function", function: own, metadata }],
      metadata: { troupe: { type: "ThoughtEvent" } },
    },
    {
      id: "m3:0",
      role: "tool",
      toolCallId: "m2:call_1",
      content: "y",
      metadata: { troupe: { is_error: true } },
    },
  ]);
});

test("a human's text that turns out to be a thought has no tool calls", async () => {
  const request = message("m0", "UserInputRequestedEvent", "", { request_id: "r" });
  const call = { id: "call_1", name: "search", arguments: "{}" };
  const { agent } = await readStream(
    encoded([
      opening,
      request,
      piece("Hm."),
      message("m1", "ThoughtEvent", "Hm."),
      message("m2", "ToolCallRequestEvent", "", { content: [call] }),
    ]),
  );
  expect(agent.messages).toMatchObject([
    { id: "m1", role: "reasoning", content: "Hm." },
    { id: "m2", role: "assistant", toolCalls: [{ id: "m2:call_1" }] },
  ]);
  expect(warnings).not.toHaveBeenCalled();
});

test("a thought that did not stream is reasoning", async () => {
  const { agent } = await readStream(encoded([opening, message("m1", "ThoughtEvent", "Hm.")]));
  expect(agent.messages).toEqual([
    { id: "m1", role: "reasoning", content: "Hm.", metadata: { troupe: { source: "writer" } } },
  ]);
});

test("a text that is void is withdrawn, and the next attempt is the message", async () => {
  const discard: StreamFrame = {
    event: "discard",
    data: { full_message_id: "m1", source: "writer" },
  };
  const stream = [
    opening,
    piece("Hel"),
    discard,
    piece("Good"),
    message("m1", "TextMessage", "Good day."),
  ];
  const { agent } = await readStream(encoded(stream));
  expect(agent.messages).toMatchObject([
    { id: "m1", content: "Good day.", metadata: { troupe: { type: "TextMessage" } } },
  ]);
});

test("a client with a conversation too long to be sent again gets an error for its void text", async () => {
  const discard: StreamFrame = {
    event: "discard",
    data: { full_message_id: "m1", source: "writer" },
  };
  const text = encoded([opening, piece("Hel"), discard, piece("Good")], { thread: null });
  expect(eventsIn(text).at(-1)).toMatchObject({
    type: "RUN_ERROR",
    code: "answer_changed",
    message: expect.stringContaining("run-1"),
  });
  await expect(readStream(text)).resolves.toBeDefined();
});

test("texts of other agents continue when one is withdrawn", async () => {
  const other = madeUpMessage("m2:0", "critic", "ModelClientStreamingChunkEvent", "But ", TIME, {
    full_message_id: "m2",
  });
  const discard: StreamFrame = {
    event: "discard",
    data: { full_message_id: "m1", source: "writer" },
  };
  const said = madeUpMessage("m2", "critic", "TextMessage", "But why?", TIME);
  const given = { id: "u1", role: "user", content: "Go." };
  const text = encoded(
    [
      opening,
      piece("Hel"),
      { event: "message", data: other },
      discard,
      { event: "message", id: "1", data: said },
      message("m1", "TextMessage", "Good day."),
    ],
    { thread: [given] },
  );
  const { agent } = await readStream(text);
  expect(agent.messages).toMatchObject([
    given,
    { id: "m2", content: "But why?" },
    { id: "m1", content: "Good day." },
  ]);
});

test("details that a text does not contain are in its message's metadata", async () => {
  const { agent } = await readStream(
    encoded([
      opening,
      message("m1", "StructuredMessage[Report]", "Lisbon"),
      message("m2", "HandoffMessage", "Over to you."),
    ]),
  );
  expect(agent.messages).toMatchObject([
    {
      content: "Lisbon!",
      metadata: {
        troupe: { type: "StructuredMessage[Report]", content: { city: "Lisbon", grade: 1 } },
      },
    },
    { content: "Over to you.", metadata: { troupe: { type: "HandoffMessage", target: "critic" } } },
  ]);
});

test("events without a counterpart become custom ones, whatever their version", async () => {
  const { events } = await readStream(encoded([opening, message("m1", "WeatherEvent", "Rain.")]));
  expect(events).toContainEqual({
    type: "CUSTOM",
    name: "troupe.WeatherEvent",
    value: expect.objectContaining({ id: "m1", content: "Rain.", forecast: ["rain"] }),
  });
});

test("each agent's turn is a step, and the shared state names the speaker", async () => {
  const { agent, events } = await readStream(
    encoded([opening, message("m1", "ThoughtEvent", "Hm."), message("m2", "TextMessage", "So.")]),
  );
  const steps = events.flatMap((event) =>
    "stepName" in event ? [[event.type, event.stepName]] : [],
  );
  expect(steps).toEqual([
    ["STEP_STARTED", "writer"],
    ["STEP_FINISHED", "writer"],
  ]);
  const states = events.filter(({ type }) => type.startsWith("STATE_"));
  const speaks = (value: string | null) => ({
    type: "STATE_DELTA",
    delta: [{ op: "add", path: "/troupe/speaker", value }],
  });
  expect(states).toEqual([
    { type: "STATE_SNAPSHOT", snapshot: { troupe: { speaker: null } } },
    speaks("writer"),
    speaks(null),
  ]);
  expect(agent.state).toEqual({ troupe: { speaker: null } });
});

test("the state that the team shows changes member by member", () => {
  const encoder = makeAgUiEncoder(formatOf({ ...OPTIONS, state: "part" }).options);
  const show = (state: JsonObject): unknown[] => eventsIn(encoder.visibleState?.(state) ?? "");
  const ledger = { task: "go", facts: "", plan: "" };
  expect(show({ task_ledger: ledger, progress_ledger: { rounds: 0 } })).toEqual([]);
  expect(eventsIn(encoder.encode(opening))).toEqual([
    expect.objectContaining({ type: "RUN_STARTED" }),
    {
      type: "STATE_DELTA",
      delta: [
        {
          op: "add",
          path: "/troupe",
          value: { speaker: null, task_ledger: ledger, progress_ledger: { rounds: 0 } },
        },
      ],
    },
  ]);
  expect(
    show({ task_ledger: { ...ledger, facts: "f", plan: "p" }, progress_ledger: { rounds: 0 } }),
  ).toEqual([
    {
      type: "STATE_DELTA",
      delta: [
        { op: "add", path: "/troupe/task_ledger/facts", value: "f" },
        { op: "add", path: "/troupe/task_ledger/plan", value: "p" },
      ],
    },
  ]);
  expect(show({ progress_ledger: { rounds: 0 } })).toEqual([]);
});

function eventsIn(text: string): unknown[] {
  const lines = text.split("\n\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line.replace(/^data: /, "")));
}
