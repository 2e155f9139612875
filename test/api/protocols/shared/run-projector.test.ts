import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RunProjector } from "#api/protocols/shared/run-projector.ts";
import type { RunItem } from "#api/protocols/shared/run-item.ts";
import { toText } from "#core/messages/views.ts";
import type { StreamFrame } from "#contract/stream/stream-frame.ts";
import { frames, isEnd, stories, streamOf } from "../support/frames.ts";
import { RunSimulator } from "../support/run-simulator.ts";
import { madeUpMessage } from "../support/made-up-messages.ts";

type TextItem = Extract<RunItem, { attempt: number }>;

const TIME = "2026-11-23T04:00:00.000Z";

function keyOf({ messageId, attempt }: TextItem): string {
  return `${messageId}#${attempt}`;
}

function itemsOf(stream: readonly StreamFrame[]): RunItem[] {
  const projector = new RunProjector();
  return stream.flatMap((frame) => projector.take(frame));
}

function isLast({ type }: RunItem): boolean {
  return type === "completed" || type === "cancelled" || type === "failed";
}

function isWaiting({ type }: RunItem): boolean {
  return type === "waiting";
}

test("a text begins once, only grows until it ends, and ends before the run ends or waits", () => {
  fc.assert(
    fc.property(frames, (stream) => {
      const begun = new Set<string>();
      const open = new Set<string>();
      for (const item of itemsOf(stream)) {
        if (item.type === "text_start") {
          expect(begun).not.toContain(keyOf(item));
          begun.add(keyOf(item));
          open.add(keyOf(item));
        }
        if (item.type === "text_delta") {
          expect(open).toContain(keyOf(item));
          expect(item.delta).not.toBe("");
        }
        if (item.type === "text_end") expect(open.delete(keyOf(item))).toBe(true);
        if (isLast(item) || isWaiting(item)) expect(open.size).toBe(0);
      }
    }),
  );
});

test("a chat message comes after its whole text", () => {
  fc.assert(
    fc.property(frames, (stream) => {
      const projector = new RunProjector();
      const texts = new Map<string, string>();
      for (const frame of stream) {
        const items = projector.take(frame);
        for (const item of items) {
          if (item.type === "text_start") texts.set(keyOf(item), "");
          if (item.type === "text_delta")
            texts.set(keyOf(item), texts.get(keyOf(item)) + item.delta);
          if (item.type === "text_end") expect(item.content).toBe(texts.get(keyOf(item)));
        }
        const message = items.findIndex(({ type }) => type === "message");
        if (message === -1) continue;
        expect(message).toBe(items.length - 1);
        const said = items[message] as Extract<RunItem, { type: "message" }>;
        const whole = items.flatMap((item) =>
          item.type === "text_end" && !item.void ? [item.content] : [],
        );
        const text = toText(said.message);
        if (text !== "") expect(whole).toContain(text);
      }
    }),
  );
});

test("the end of the run comes last and once, and nothing follows it", () => {
  fc.assert(
    fc.property(frames, (stream) => {
      const projector = new RunProjector();
      const items = stream.flatMap((frame) => projector.take(frame));
      expect(items[0]?.type).toBe("run");
      const ended = stream.some(isEnd);
      expect(items.filter(isLast)).toHaveLength(ended ? 1 : 0);
      expect(isLast(items.at(-1)!)).toBe(ended);
      if (ended) expect(stream.flatMap((frame) => projector.take(frame))).toEqual([]);
    }),
  );
});

test("a client that connects later gets the same messages", () => {
  const recorded = (stream: StreamFrame[]): RunItem[] =>
    itemsOf(stream).filter(
      ({ type }) =>
        !type.startsWith("text_") && !["run", "live", "paused", "waiting"].includes(type),
    );
  fc.assert(
    fc.property(stories, fc.nat(60), (story, joined) => {
      const live = recorded(streamOf(story, 0));
      const later = recorded(streamOf(story, Math.min(joined, story.happenings.length)));
      expect(later.map(withoutRun)).toEqual(live.map(withoutRun));
    }),
  );
});

/** The result is sent with the run as it was then, which a later client has from its first frame. */
function withoutRun(item: RunItem): unknown {
  return item.type === "completed" ? { ...item, run: null } : item;
}

test("a run waits only while it is followed and has open questions", () => {
  fc.assert(
    fc.property(frames, (stream) => {
      let live = false;
      let answered = false;
      for (const item of itemsOf(stream)) {
        if (item.type === "live") live = true;
        if (item.type === "run") answered = item.run.status !== "waiting";
        if (item.type === "waiting") expect([live, answered]).toEqual([true, false]);
      }
    }),
  );
});

test("questions that are being answered do not make it wait", () => {
  const run = new RunSimulator(false);
  run.act({ do: "ask", source: "human", kind: "input", prompt: "Which city?" });
  run.act({ do: "ask", source: "human", kind: "input", prompt: "Which street?" });
  run.act({ do: "wait" });
  const [first, second] = run.info.requests;
  const waiting = run.happenings.flatMap(({ frame }) => frame ?? []);
  const answered = { ...run.info, requests: [second!] };
  const stream: StreamFrame[] = [
    { event: "run", data: run.info },
    { event: "caught_up", data: {} },
    ...waiting,
    { event: "run", data: answered },
  ];
  const projector = new RunProjector({ answering: [first!.id] });
  const waits = stream.flatMap((frame) => projector.take(frame)).filter(isWaiting);
  expect(waits).toEqual([{ type: "waiting", run: answered }]);
});

test("a text that turns out to be a thought was void", () => {
  const piece = madeUpMessage("m1:0", "writer", "ModelClientStreamingChunkEvent", "Hm.", TIME, {
    full_message_id: "m1",
  });
  const thought = madeUpMessage("m1", "writer", "ThoughtEvent", "Hm.", TIME);
  const items = itemsOf([
    { event: "message", data: piece },
    { event: "message", id: "1", data: thought },
  ]);
  const place = { messageId: "m1", attempt: 1, source: "writer" };
  expect(items).toEqual([
    { type: "text_start", ...place, role: "agent" },
    { type: "text_delta", ...place, delta: "Hm." },
    { type: "text_end", ...place, content: "Hm.", void: true },
    { type: "thought", id: "m1", source: "writer", content: "Hm." },
  ]);
});
