/** The position of the pieces of a streamed text among those of its run. */
export interface PiecePlace {
  /** The cursor of the last event when the text began. */
  after: number;
  /** The number of interruptions of the run after that event. */
  restarts: number;
  /** The number of pieces and starts of earlier texts after the later of both. */
  taken: number;
  /** The number of the first piece within its text. */
  first: number;
}

/** The pieces in which a text was streamed; all streams of a team in protocol formats use the same pieces. */
export interface TextPieces extends PiecePlace {
  /** The characters of each piece. */
  lengths: readonly number[];
}

/** The pieces of the end of a text. @param length the number of its characters */
export function piecesOfEnd(pieces: TextPieces, length: number): TextPieces {
  const { lengths } = pieces;
  let skipped = lengths.reduce((sum, one) => sum + one, 0) - length;
  let start = 0;
  for (let one = lengths[start]; one !== undefined && one <= skipped; one = lengths[++start]) {
    skipped -= one;
  }
  const [first = 0, ...others] = lengths.slice(start);
  return { ...pieces, first: pieces.first + start, lengths: [first - skipped, ...others] };
}

/** A text in pieces, with the position of each. @param had characters at its beginning that are left out */
export function* cutText(
  text: string,
  { lengths, ...place }: TextPieces,
  had: number,
): Generator<{ piece: string; place: PiecePlace }> {
  let from = 0;
  for (const [index, length] of lengths.entries()) {
    const piece = text.slice(Math.max(from, had), from + length);
    if (piece !== "") yield { piece, place: { ...place, first: place.first + index } };
    from += length;
  }
}
