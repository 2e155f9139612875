import { expect, test } from "vitest";
import { EncodedFrames, PieceFrames } from "#durable/stream/frames.ts";
import type { StreamEncoder } from "#contract/stream/stream-format.ts";
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

/** Writes the content of texts, and the names of other frames. */
const contents: StreamEncoder = {
  encode: ({ event, data }) => ("content" in data ? `<${String(data.content)}>` : `(${event})`),
  ended: false,
};

const throwing = (error: unknown): void => {
  throw error;
};

test("a text's first pieces are told apart, later ones together when they are sent together", () => {
  const frames = new EncodedFrames(contents, throwing);
  const other = { ...PIECE, source: "Grace", full_message_id: "m2" };
  const write = (content: string, piece = PIECE): string => frames.piece({ ...piece, content });
  for (let piece = 0; piece < 32; piece++) expect(write(String(piece))).toBe(`<${piece}>`);
  expect(frames.held()).toBe("");
  expect(write("Hel") + write("lo")).toBe("");
  expect(frames.held()).toBe("<Hello>");
  expect(write("!")).toBe("");
  expect(write("Bye", other)).toBe("<!><Bye>");
  expect(frames.held()).toBe("");
});

test("whatever follows a piece is written after it", () => {
  const frames = new EncodedFrames(contents, throwing);
  const write = (content: string): string => frames.piece({ ...PIECE, content });
  for (let piece = 0; piece < 32; piece++) write("-");
  write("Hello");
  expect(frames.live({ event: "caught_up", data: {} })).toBe("<Hello>(caught_up)");
  write("Bye");
  const retract = { kind: "retract", body: '{"message_ids":[]}' } as const;
  expect(frames.recorded({ seq: 7, run: 1, ...retract })).toBe("<Bye>(retract)");
});
