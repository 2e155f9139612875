import { expect, test } from "vitest";
import { cutText, piecesOfEnd, type TextPieces } from "#contract/stream/text-pieces.ts";

const pieces: TextPieces = { after: 7, restarts: 1, taken: 2, first: 0, lengths: [3, 1, 4] };
const text = "abcdefgh";

const cut = (given: string, had: number, of = pieces) =>
  [...cutText(given, of, had)].map(({ piece, place }) => [place.until, piece]);

test("a text is cut where it was streamed, and each piece knows its end", () => {
  expect(cut(text, 0)).toEqual([
    [3, "abc"],
    [4, "d"],
    [8, "efgh"],
  ]);
  expect([...cutText(text, pieces, 0)][1]?.place).toEqual({
    after: 7,
    restarts: 1,
    taken: 2,
    until: 4,
  });
});

test("characters that a client has are left out, within a piece, too", () => {
  expect(cut(text, 3)).toEqual([
    [4, "d"],
    [8, "efgh"],
  ]);
  expect(cut(text, 5)).toEqual([[8, "fgh"]]);
  expect(cut(text, text.length)).toEqual([]);
});

test("the pieces of the end of a text are those of the whole text from there", () => {
  for (let length = 1; length <= text.length; length++) {
    const of = piecesOfEnd(pieces, length);
    expect(cut(text.slice(-length), 0, of)).toEqual(cut(text, text.length - length));
  }
});
