import { expect, test } from "vitest";
import { PieceFrames } from "#durable/stream/frames.ts";
import type { ModelClientStreamingChunkEvent } from "troupe";

const PIECE: ModelClientStreamingChunkEvent = {
  id: 'm"1:0',
  source: "Ada \\ Lovelace",
  models_usage: null,
  metadata: {},
  created_at: "2026-11-23T00:00:00.000Z",
  content: 'a "word"\n',
  full_message_id: 'm"1',
  type: "ModelClientStreamingChunkEvent",
};

/** The frames of pieces, parsed. */
function framesOf(pieces: readonly ModelClientStreamingChunkEvent[]): unknown[] {
  const frames = new PieceFrames();
  return pieces.map((piece) => {
    const [, json] = /^data: ([^\n]*)\n\n$/.exec(frames.write(piece)) ?? [];
    return JSON.parse(json ?? "") as unknown;
  });
}

test("frames of a text's pieces hold each piece as it is", () => {
  const pieces = ["", "\u2028 é 🎭", "}"].map((content, index) => ({
    ...PIECE,
    id: `m"1:${index + 1}`,
    content,
  }));
  expect(framesOf([PIECE, ...pieces])).toEqual([PIECE, ...pieces]);
});

test("also pieces that differ in something else", () => {
  const others = [
    { ...PIECE, source: "Grace" },
    { ...PIECE, created_at: "2026-11-23T00:00:01.000Z" },
    { ...PIECE, full_message_id: null },
    { ...PIECE, metadata: { part: "two" } },
    { ...PIECE, models_usage: { prompt_tokens: 1, completion_tokens: 2 } },
    PIECE,
  ];
  expect(framesOf([PIECE, ...others])).toEqual([PIECE, ...others]);
  expect(framesOf([{ ...PIECE, metadata: { part: "one" } }, PIECE])).toEqual([
    { ...PIECE, metadata: { part: "one" } },
    PIECE,
  ]);
});
