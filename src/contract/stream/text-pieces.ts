/** The position of a streamed text among those of its run. */
interface TextPosition {
  /** The cursor of the last event when the text began. */
  after: number;
  /** The number of interruptions of the run after that event. */
  restarts: number;
  /** The number of characters and starts of earlier texts after the later of both. */
  taken: number;
}

/** The position of a piece. */
export interface PiecePlace extends TextPosition {
  /** The number of characters of the text up to the end of the piece. */
  until: number;
}

/** The pieces in which a text was streamed; all streams of a team in protocol formats use the same pieces. */
export interface TextPieces extends TextPosition {
  /** The number of characters of the text before these pieces. */
  first: number;
  /** The characters of each piece. */
  lengths: readonly number[];
}

/** The pieces of the end of a text. @param length the number of its characters */
export function piecesOfEnd(pieces: TextPieces, length: number): TextPieces {
  const { lengths } = pieces;
  let skipped = lengths.reduce((sum, one) => sum + one, 0) - length;
  const first = pieces.first + skipped;
  let start = 0;
  for (let one = lengths[start]; one !== undefined && one <= skipped; one = lengths[++start]) {
    skipped -= one;
  }
  const [beginning = 0, ...others] = lengths.slice(start);
  return { ...pieces, first, lengths: [beginning - skipped, ...others] };
}

/** The place of a single piece. */
export function placeOfPiece({ after, restarts, taken, first, lengths }: TextPieces): PiecePlace {
  return { after, restarts, taken, until: first + (lengths[0] ?? 0) };
}

/** A text in pieces, with the position of each. @param had characters at its beginning that are left out */
export function* cutText(
  text: string,
  { after, restarts, taken, first, lengths }: TextPieces,
  had: number,
): Generator<{ piece: string; place: PiecePlace }> {
  let from = 0;
  for (const length of lengths) {
    const piece = text.slice(Math.max(from, had), from + length);
    from += length;
    if (piece !== "") yield { piece, place: { after, restarts, taken, until: first + from } };
  }
}
