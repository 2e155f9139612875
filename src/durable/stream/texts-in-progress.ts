import { piecesOfEnd, type TextPieces } from "../../contract/stream/text-pieces.ts";
import type { TextFrame } from "../../contract/stream/stream-frame.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import { streamedTextId } from "../../core/messages/create.ts";
import { isChatMessage } from "../../core/messages/kinds.ts";
import type { Message } from "../../core/messages/message.ts";
import { toText } from "../../core/messages/views.ts";
import { PieceFrames } from "./piece-frames.ts";

/** So many pieces of a text are told one by one, as the model gave them. Later ones that are sent together become one. */
const PIECES_APART = 32;

/** Numbers that the beginning of a text takes among those of the pieces. */
const BEGINNING = 2;

/** What a text that begins comes after: the cursor of the last event, and how often the run was interrupted since. */
export type TextOrigin = () => Pick<TextPieces, "after" | "restarts">;

interface Text {
  shown: TextFrame;
  frames: PieceFrames;
  pieces: TextPieces & { lengths: number[] };
  /** A piece with what is not told yet. */
  held: ModelClientStreamingChunkEvent | undefined;
}

/** A piece of a text as streams in the formats of protocols tell it. */
export interface ToldPiece {
  piece: ModelClientStreamingChunkEvent;
  pieces: TextPieces;
}

/** The texts that stream in: what a new client is shown of each, the frames of its pieces, and how it was cut. Nothing here is stored. */
export class TextsInProgress {
  readonly #origin: TextOrigin;
  readonly #texts = new Map<string, Text>();
  /** The text whose pieces come at the moment. */
  #current: Text | undefined;
  /** The text that a thought of its source has ended: it may have more than the thought. */
  #left: Text | undefined;
  #taken = { after: -1, restarts: 0, count: 0 };

  constructor(origin: TextOrigin) {
    this.#origin = origin;
  }

  /** Whether the piece belongs to the text whose pieces come at the moment. */
  isOfCurrent({ full_message_id, source }: ModelClientStreamingChunkEvent): boolean {
    const shown = this.#current?.shown;
    return shown?.full_message_id === full_message_id && shown.source === source;
  }

  /** Adds a piece to its text. @returns the frames of the text's pieces, and whether the piece is to be told at once */
  add(piece: ModelClientStreamingChunkEvent): { frames: PieceFrames; apart: boolean } {
    const id = streamedTextId(piece);
    const { full_message_id, source, content } = piece;
    let text = this.#texts.get(id);
    if (text === undefined) {
      text = {
        shown: { full_message_id, source, content: "" },
        frames: new PieceFrames(),
        pieces: { ...this.#place(), first: 0, lengths: [] },
        held: undefined,
      };
      this.#texts.set(id, text);
    }
    this.#current = text;
    text.shown.content += content;
    if (text.held !== undefined) text.held.content += content;
    else if (content !== "") text.held = { ...piece };
    return { frames: text.frames, apart: text.pieces.lengths.length < PIECES_APART };
  }

  /** What is not told yet of the text whose pieces come at the moment. */
  takeHeld(): ToldPiece | undefined {
    const text = this.#current;
    if (text?.held === undefined) return undefined;
    const { held: piece, pieces } = text;
    const { length } = piece.content;
    text.held = undefined;
    pieces.lengths.push(length);
    return { piece, pieces: { ...pieces, first: pieces.lengths.length - 1, lengths: [length] } };
  }

  /**
   * A message ends its own text, and those of its source, which may have no id.
   *
   * @returns the pieces that the message was streamed in; undefined where they do not make its text
   */
  end(message: Message): TextPieces | undefined {
    const { id, source } = message;
    const left = this.#left?.shown.source === source ? this.#left : undefined;
    if (left !== undefined) this.#left = undefined;
    let own = this.#texts.get(id);
    for (const [textId, text] of this.#texts) {
      if (textId !== id && text.shown.source !== source) continue;
      own ??= text;
      this.#texts.delete(textId);
      this.#ended(text);
    }
    const isMessage = isChatMessage(message);
    const content = isMessage ? toText(message) : "content" in message ? message.content : "";
    const text = typeof content === "string" ? content : "";
    const isThought = message.type === "ThoughtEvent";
    if (isThought && own !== undefined && own.shown.content !== text) this.#left = own;
    const from = own ?? left;
    if (text === "" || from === undefined) return undefined;
    const { pieces, shown } = from;
    const more = text.length - shown.content.length;
    if (more > 0 && isMessage && text.startsWith(shown.content)) {
      return { ...pieces, lengths: [...pieces.lengths, more] };
    }
    // What came before it was a thought between tags.
    const isEnd = isMessage ? shown.content.endsWith(text) : shown.content === text;
    return isEnd ? piecesOfEnd(pieces, text.length) : undefined;
  }

  textOf(id: string): string | undefined {
    return this.#texts.get(id)?.shown.content;
  }

  /** Removes the text of a message, if there is one. */
  take(id: string): TextFrame | undefined {
    const text = this.#texts.get(id);
    if (text === undefined) return undefined;
    this.#texts.delete(id);
    this.#ended(text);
    return text.shown;
  }

  /** Removes all. */
  takeAll(): TextFrame[] {
    const texts = [...this.#texts.values()];
    this.#texts.clear();
    for (const text of texts) this.#ended(text);
    this.#left = undefined;
    return texts.map(({ shown }) => shown);
  }

  /** What a new client is shown of each. */
  get shown(): { data: TextFrame; pieces: TextPieces }[] {
    return [...this.#texts.values()].map(({ shown, pieces }) => ({
      data: shown,
      pieces: { ...pieces, lengths: [...pieces.lengths] },
    }));
  }

  #place(): Pick<TextPieces, "after" | "restarts" | "taken"> {
    const origin = this.#origin();
    const { after, restarts, count } = this.#taken;
    const goesOn = origin.after === after && origin.restarts === restarts;
    if (!goesOn) this.#taken = { ...origin, count: 0 };
    return { ...origin, taken: goesOn ? count : 0 };
  }

  #ended(text: Text): void {
    if (this.#current === text) this.#current = undefined;
    const { after, restarts, lengths } = text.pieces;
    if (after !== this.#taken.after || restarts !== this.#taken.restarts) return;
    this.#taken.count += lengths.length + BEGINNING;
  }
}
