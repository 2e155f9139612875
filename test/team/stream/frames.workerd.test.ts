import { expect, test } from "vitest";
import { EncodedFrames } from "#team/stream/frames.ts";
import { PieceFrames } from "#team/stream/piece-frames.ts";
import { TextsInProgress } from "#team/stream/texts-in-progress.ts";
import type { StreamEncoder } from "#contract/stream/stream-format.ts";
import type { Message, ModelClientStreamingChunkEvent } from "troupe";

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

test("frames of a text's pieces hold each piece unchanged", () => {
  const pieces = ["", "\u2028 é 🎭", "}"].map((content, index) => ({
    ...PIECE,
    id: `m"1:${index + 1}`,
    content,
  }));
  expect(framesOf([PIECE, ...pieces])).toEqual([PIECE, ...pieces]);
});

test("pieces that differ in something else are in frames of their own", () => {
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

const throwing = (): never => {
  throw new TypeError("cannot write this");
};

test("the first pieces of a text stay separate, and later ones are merged when they are sent together", () => {
  const texts = new TextsInProgress(() => ({ after: 7, restarts: 1 }));
  const write = (content: string, piece = PIECE): boolean => texts.add({ ...piece, content }).apart;
  const told = () => texts.takeUnsent();
  let first = 0;
  for (let piece = 0; piece < 32; piece++) {
    const content = String(piece);
    expect(write(content)).toBe(true);
    expect(told()).toMatchObject({ piece: { content }, pieces: { first } });
    first += content.length;
  }
  expect([write("Hel"), write("lo")]).toEqual([false, false]);
  const place = { after: 7, restarts: 1, taken: 0 };
  expect(told()).toMatchObject({
    piece: { content: "Hello" },
    pieces: { ...place, first, lengths: [5] },
  });
  expect(told()).toBeUndefined();
  expect(texts.isOfCurrent(PIECE)).toBe(true);
  expect(texts.isOfCurrent({ ...PIECE, source: "Grace", full_message_id: "m2" })).toBe(false);
});

const said = (content: string, type = "TextMessage", id = 'm"1') =>
  ({ ...PIECE, id, content, type }) as unknown as Message;

test("a message has the pieces that make its text, after a thought between tags too", () => {
  const texts = new TextsInProgress(() => ({ after: 0, restarts: 0 }));
  const stream = (...pieces: string[]): void => {
    for (const content of pieces) {
      texts.add({ ...PIECE, content });
      texts.takeUnsent();
    }
  };
  stream("Hel", "lo");
  expect(texts.end(said("Hello"))).toMatchObject({ taken: 0, first: 0, lengths: [3, 2] });
  stream("Hel", "lo");
  expect(texts.end(said("Good day"))).toBeUndefined();
  stream("<think>Hm", ".</think>Se", "ven.");
  expect(texts.end(said("Hm.", "ThoughtEvent"))).toBeUndefined();
  expect(texts.end(said("Seven.", "TextMessage", "m2"))).toMatchObject({
    first: "<think>Hm.</think>".length,
    lengths: [2, 4],
  });
});

test("texts after a void one have other positions", () => {
  let restarts = 0;
  const texts = new TextsInProgress(() => ({ after: 3, restarts }));
  const place = (): unknown => {
    texts.add(PIECE);
    return texts.takeUnsent()?.pieces;
  };
  expect(place()).toMatchObject({ restarts: 0, taken: 0, first: 0 });
  const { length } = PIECE.content;
  expect(place()).toMatchObject({ restarts: 0, taken: 0, first: length });
  texts.take('m"1');
  expect(place()).toMatchObject({ restarts: 0, taken: 2 * length + 1, first: 0 });
  texts.takeAll();
  restarts = 1;
  expect(place()).toMatchObject({ restarts: 1, taken: 0, first: 0 });
});

test("an encoder is called for reported items, not for each piece, and not after an error", () => {
  const frames = new EncodedFrames(contents, () => undefined);
  const pieces = { after: 0, restarts: 0, taken: 0, first: 0, lengths: [2] };
  expect(frames.piece()).toBe("");
  expect(frames.joined({ piece: { ...PIECE, content: "Hi" }, pieces })).toBe("<Hi>");
  const broken = new EncodedFrames({ ...contents, encode: throwing }, () => undefined);
  expect(broken.live({ event: "caught_up", data: {} })).toBe("");
  expect(broken.ended).toBe(true);
});
