import { StreamResponse, TaskState } from "@a2a-js/sdk";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { a2aFormats } from "#api/protocols/a2a/encoder/formats.ts";
import { encodedOverPauses, frames, isEnd, stories, streamOf } from "../../support/frames.ts";
import { madeUpMessage } from "../../support/made-up-messages.ts";
import { RunSimulator } from "../../support/run-simulator.ts";
import { artifactsOf } from "../support/client.ts";
import { casesOf } from "../../../../support/samples.ts";

interface Sent {
  jsonrpc: string;
  id: unknown;
  result: object;
}

type Payload = NonNullable<StreamResponse["payload"]>;

const LAST = new Set([
  TaskState.TASK_STATE_COMPLETED,
  TaskState.TASK_STATE_FAILED,
  TaskState.TASK_STATE_CANCELED,
  TaskState.TASK_STATE_INPUT_REQUIRED,
]);

/** What the official types read of the stream, which is what was written. */
function encoded(
  stream: readonly StreamFrame[],
  options = {},
): { events: Payload[]; ended: boolean } {
  const encoder = a2aFormats.a2a.makeEncoder({ id: 7, ...options });
  let text = "";
  for (const frame of stream) {
    if (encoder.ended) break;
    text += encoder.encode(frame);
  }
  return { events: eventsIn(text), ended: encoder.ended };
}

function eventsIn(text: string): Payload[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((event) => {
      expect(event).toMatch(/^data: [^\r\n]*$/);
      const sent = JSON.parse(event.slice("data: ".length)) as Sent;
      expect(sent).toMatchObject({ jsonrpc: "2.0", id: 7 });
      const read = StreamResponse.fromJSON(sent.result);
      expect(StreamResponse.toJSON(read)).toEqual(sent.result);
      return read.payload!;
    });
}

function isLast(event: Payload): boolean {
  return event.$case === "statusUpdate" && LAST.has(event.value.status!.state);
}

test("any stream of a run is the legal stream of a task", () => {
  fc.assert(
    fc.property(frames, fc.boolean(), (stream, answers) => {
      const open = stream.flatMap((frame) =>
        frame.event === "run" ? frame.data.requests.map(({ id }) => id) : [],
      );
      const options = answers ? { answering: open.slice(0, 1) } : {};
      const { events, ended } = encoded(stream, options);
      const [task, ...updates] = events;
      expect(task?.$case).toBe("task");
      for (const event of updates) {
        expect(["statusUpdate", "artifactUpdate"]).toContain(event.$case);
        expect(event.value).toMatchObject({ taskId: "run-1", contextId: "team-1" });
      }
      // The last event, and no other, ends the task or asks.
      expect(updates.slice(0, -1).some(isLast)).toBe(false);
      expect(updates.at(-1) !== undefined && isLast(updates.at(-1)!)).toBe(ended);
      if (stream.some(isEnd)) expect(ended).toBe(true);
      for (const parts of artifactsOf(events).values()) expect(parts).not.toEqual([]);
      for (const event of events) {
        if (event.$case === "artifactUpdate") expect(event.value.artifact!.parts).not.toEqual([]);
      }
    }),
    { numRuns: casesOf(1000) },
  );
});

/** What the client of a task holds in the end: its artifacts, what agents said before, and its state. */
function held(events: readonly Payload[]): object {
  const last = events.at(-1);
  return {
    artifacts: [...artifactsOf(events)].map(([id, parts]) => [
      id,
      parts.map(({ content }) => (content?.$case === "text" ? content.value : "")).join(""),
      parts.filter(({ content }) => content?.$case !== "text"),
    ]),
    said: events.flatMap((event) =>
      event.$case === "statusUpdate" && event.value.status?.message
        ? [event.value.status.message]
        : [],
    ),
    events: events.flatMap((event) =>
      event.$case === "statusUpdate" && event.value.metadata?.["troupe/event"] !== undefined
        ? [event.value.metadata["troupe/event"]]
        : [],
    ),
    state: last?.$case === "statusUpdate" ? last.value.status?.state : undefined,
  };
}

test("the client holds the same where another encoder continues after each pause", () => {
  fc.assert(
    fc.property(stories, fc.boolean(), (story, toEnd) => {
      const options = { toEnd };
      const text = encodedOverPauses(story, () =>
        a2aFormats.a2a.makeEncoder({ id: 7, ...options }),
      );
      const events = eventsIn(text);
      expect(events.slice(1).filter(({ $case }) => $case === "task")).toEqual([]);
      expect(held(events)).toEqual(held(encoded(streamOf(story, 0), options).events));
    }),
    { numRuns: casesOf(1000) },
  );
});

test("an agent that has asked a human does not count as one: its own message is the artifact", () => {
  const { info } = new RunSimulator(false);
  const request = {
    id: "q",
    kind: "input" as const,
    source: "remote",
    prompt: "Which city?",
    context: { messages: [], truncated: false },
    created_at: info.created_at,
    expires_at: null,
  };
  const said = madeUpMessage("m", "remote", "TextMessage", "Lisbon it is.", info.created_at);
  const { usage } = info;
  const { events, ended } = encoded(
    [
      { event: "run", data: { ...info, status: "waiting", requests: [request] } },
      { event: "caught_up", data: {} },
      { event: "run", data: info },
      { event: "message", id: "1", data: said },
      {
        event: "message",
        id: "2",
        data: { type: "TaskResult", stop_reason: null, usage, message_ids: ["m"] },
      },
    ],
    { answering: ["q"] },
  );
  expect(ended).toBe(true);
  expect(artifactsOf(events).get("answer")).toMatchObject([
    { content: { value: "Lisbon it is." } },
    { content: { value: "" } },
  ]);
});

test("the artifact of a completed task is the last message of an agent, and a task without one has no artifact", () => {
  fc.assert(
    fc.property(frames, (stream) => {
      const { events } = encoded(stream);
      const last = events.at(-1);
      const completed =
        last?.$case === "statusUpdate" &&
        last.value.status?.state === TaskState.TASK_STATE_COMPLETED;
      const closing = events.filter(
        (event) => event.$case === "artifactUpdate" && event.value.lastChunk,
      );
      expect(closing.length).toBeLessThanOrEqual(completed ? 1 : 0);
      const [closed] = closing;
      if (closed?.$case !== "artifactUpdate") return;
      expect(events.indexOf(closed)).toBe(events.length - 2);
      const id = closed.value.artifact!.metadata?.["troupe/message_id"];
      const said = stream.flatMap((frame) =>
        frame.event === "message" && "id" in frame.data && frame.data.id === id ? [frame.data] : [],
      );
      // One that was given up may have come again.
      const message = said.at(-1);
      expect(message).toBeDefined();
      const parts = artifactsOf(events).get("answer")!;
      const text = parts
        .map(({ content }) => (content?.$case === "text" ? content.value : ""))
        .join("");
      if (message?.type === "TextMessage") expect(text).toBe(message.content);
      if (message?.type === "MultiModalMessage") {
        expect(parts).toHaveLength(Math.max(1, message.content.length));
      }
      if (message?.type.startsWith("StructuredMessage[")) {
        const { content } = message as { content: unknown } & typeof message;
        expect(parts).toMatchObject([
          { content: { $case: "data", value: content }, mediaType: "application/json" },
        ]);
      }
    }),
    { numRuns: casesOf(1000) },
  );
});
