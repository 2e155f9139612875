import { piecesOfEnd, type TextPieces } from "../../contract/stream/text-pieces.ts";
import type { TextFrame } from "../../contract/stream/stream-frame.ts";
import type { ModelClientStreamingChunkEvent } from "../../core/messages/agent-events.ts";
import { streamedTextId } from "../../core/messages/create.ts";
import { isChatMessage, toText } from "../../core/messages/views.ts";
import type { Message } from "../../core/messages/message.ts";
import { PieceFrames } from "./piece-frames.ts";

/**
 * The first pieces of a text, this many, are sent one by one, as the model gave them. Later pieces that are sent
 * together become one.
 */
const PIECES_APART = 32;

/** The position before a text starts: the cursor of the last event, and how often the run was interrupted since. */
export type TextOrigin = () => Pick<TextPieces, "after" | "restarts">;

/** Clients of models put reasoning between these tags at the beginning of a text. */
const OPEN = "<think>";
const CLOSE = "</think>";

interface Text {
  shown: TextFrame;
  frames: PieceFrames;
  pieces: TextPieces & { lengths: number[] };
  /** When its first piece came, and when its reasoning ended; epoch milliseconds. */
  began: number;
  thoughtUntil: number | undefined;
  /**
   * The end of the reasoning so far, or of a text that may begin with one; undefined in an answer. A look at the whole text for
   * each piece would copy it each time.
   */
  reasoning: string | undefined;
  /** A piece with its unsent part. */
  unsent: ModelClientStreamingChunkEvent | undefined;
}

/** A piece of a text as streams in protocol formats send it. */
export interface JoinedPiece {
  piece: ModelClientStreamingChunkEvent;
  pieces: TextPieces;
}

/**
 * The texts in progress: the snapshot of each for new clients, the frames of its pieces, and their lengths. Nothing
 * here is stored.
 */
export class TextsInProgress {
  readonly #origin: TextOrigin;
  readonly #texts = new Map<string, Text>();
  /** The text that is currently streaming. */
  #current: Text | undefined;
  /** The text that a thought of its source has ended: it may contain more than the thought. */
  #left: Text | undefined;
  #taken = { after: -1, restarts: 0, count: 0 };
  /** True if {@link takeUnsent} has something to take: clients are written to often, and mostly nothing waits. */
  hasUnsent = false;
  /** True if no text is in progress. */
  isEmpty = true;
  /** True if nothing is left of an earlier one either: then no message ends any text. */
  isClear = true;

  constructor(origin: TextOrigin) {
    this.#origin = origin;
  }

  /** True if the piece belongs to the text that is currently streaming. */
  isOfCurrent({ full_message_id, source }: ModelClientStreamingChunkEvent): boolean {
    const shown = this.#current?.shown;
    return shown?.full_message_id === full_message_id && shown.source === source;
  }

  /**
   * Adds a piece to its text. @returns the frames of the text's pieces, and whether the piece has to be sent at once
   */
  add(piece: ModelClientStreamingChunkEvent): { frames: PieceFrames; apart: boolean } {
    const id = streamedTextId(piece);
    const { full_message_id, source, content } = piece;
    let text = this.#texts.get(id);
    if (text === undefined) {
      text = {
        shown: { full_message_id, source, content: "" },
        frames: new PieceFrames(),
        pieces: { ...this.#place(), first: 0, lengths: [] },
        began: Date.now(),
        thoughtUntil: undefined,
        reasoning: "",
        unsent: undefined,
      };
      this.#texts.set(id, text);
      this.#look();
    }
    this.#current = text;
    text.shown.content += content;
    if (text.reasoning !== undefined) followReasoning(text, text.reasoning + content);
    if (text.unsent !== undefined) text.unsent.content += content;
    else if (content !== "") text.unsent = { ...piece };
    this.hasUnsent = text.unsent !== undefined;
    return { frames: text.frames, apart: text.pieces.lengths.length < PIECES_APART };
  }

  /** The unsent part of the text that is currently streaming. */
  takeUnsent(): JoinedPiece | undefined {
    this.hasUnsent = false;
    const text = this.#current;
    if (text?.unsent === undefined) return undefined;
    const { unsent: piece, pieces } = text;
    const { length } = piece.content;
    text.unsent = undefined;
    pieces.lengths.push(length);
    const first = text.shown.content.length - length;
    return { piece, pieces: { ...pieces, first, lengths: [length] } };
  }

  /**
   * Ends the text of a message, and those of its source, which may have no id.
   *
   * @returns the pieces in which the message was streamed; undefined if together they are not its text
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
    const from = own ?? left;
    if (from === undefined) return undefined;
    this.#look();
    const isMessage = isChatMessage(message);
    const content = isMessage ? toText(message) : "content" in message ? message.content : "";
    const text = typeof content === "string" ? content : "";
    const isThought = message.type === "ThoughtEvent";
    if (isThought && own !== undefined && own.shown.content !== text) {
      this.#left = own;
      this.isClear = false;
    }
    if (text === "") return undefined;
    const { pieces, shown } = from;
    const more = text.length - shown.content.length;
    if (more > 0 && isMessage && text.startsWith(shown.content)) {
      return { ...pieces, lengths: [...pieces.lengths, more] };
    }
    // The text before it was a thought between tags.
    const isEnd = isMessage ? shown.content.endsWith(text) : shown.content === text;
    return isEnd ? piecesOfEnd(pieces, text.length) : undefined;
  }

  /** For how long a text began with reasoning, in milliseconds; undefined for one without. */
  thoughtOf(id: string): number | undefined {
    const text = this.#texts.get(id);
    return text?.thoughtUntil === undefined ? undefined : text.thoughtUntil - text.began;
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
    this.#look();
    return text.shown;
  }

  /** Removes all texts. */
  takeAll(): TextFrame[] {
    const texts = [...this.#texts.values()];
    this.#texts.clear();
    for (const text of texts) this.#ended(text);
    this.#left = undefined;
    this.#look();
    return texts.map(({ shown }) => shown);
  }

  /** The snapshot of each text for a new client. */
  get shown(): { data: TextFrame; pieces: TextPieces }[] {
    return [...this.#texts.values()].map(({ shown, pieces }) => ({
      data: shown,
      pieces: { ...pieces, lengths: [...pieces.lengths] },
    }));
  }

  #look(): void {
    this.isEmpty = this.#texts.size === 0;
    this.isClear = this.isEmpty && this.#left === undefined;
  }

  #place(): Pick<TextPieces, "after" | "restarts" | "taken"> {
    const origin = this.#origin();
    const { after, restarts, count } = this.#taken;
    const isSame = origin.after === after && origin.restarts === restarts;
    if (!isSame) this.#taken = { ...origin, count: 0 };
    return { ...origin, taken: isSame ? count : 0 };
  }

  #ended(text: Text): void {
    if (this.#current === text) this.#current = undefined;
    const { after, restarts } = text.pieces;
    if (after !== this.#taken.after || restarts !== this.#taken.restarts) return;
    this.#taken.count += text.shown.content.length + 1;
  }
}

/** @param seen the end of the text that {@link Text.reasoning} has, with the next piece */
function followReasoning(text: Text, seen: string): void {
  const isBeginning = seen.length === text.shown.content.length;
  if (isBeginning && OPEN.startsWith(seen)) text.reasoning = seen;
  else if (isBeginning && !seen.startsWith(OPEN)) text.reasoning = undefined;
  else if (seen.includes(CLOSE)) {
    text.thoughtUntil = Date.now();
    text.reasoning = undefined;
  } else text.reasoning = seen.slice(1 - CLOSE.length);
}
