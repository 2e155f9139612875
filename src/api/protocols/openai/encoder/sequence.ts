import type { PiecePlace } from "../../../../contract/stream/text-pieces.ts";

/** Numbers between two recorded events. */
const ROOM = 2 ** 20;
/** The first of them that is for pieces of texts. */
const TEXTS = 8;
/** Those of the pieces between two interruptions of the run. */
const UNINTERRUPTED = 2 ** 16;
const MOST_RESTARTS = ROOM / UNINTERRUPTED - 2;
/** The first number of events that no other stream has. */
const UNIQUE = ROOM - UNINTERRUPTED;
/** The events with which a text begins. */
const BEGINNING = 2;

/**
 * The numbers of a response's events. They are made of the log's cursor and of the places of pieces, so that a stream that
 * is opened later numbers the same things alike, and what comes again after an interruption otherwise.
 */
export class Sequence {
  /** The cursor that counts as 0. */
  #start: number | undefined;
  #cursor = 0;
  #last = -1;

  /** @param after the cursor after which the response begins; 0 if it begins with its run */
  constructor(after: number) {
    this.#start = after === 0 ? undefined : after;
  }

  /** Everything up to this cursor was numbered. */
  advance(cursor: number): void {
    this.#start ??= cursor - 1;
    this.#cursor = cursor - this.#start;
  }

  /** Leaves out the numbers of events that only some streams have. */
  reserve(numbers: number): void {
    this.#last = Math.max(this.#last, this.#cursor * ROOM + numbers - 1);
  }

  /** The number of the next event. */
  next(least = this.#cursor * ROOM): number {
    this.#last = Math.max(this.#last + 1, least);
    return this.#last;
  }

  /** The number of an event that no other stream will have. */
  unique(): number {
    return this.next(Math.floor(this.#last / ROOM) * ROOM + UNIQUE);
  }

  /** The number of the first event of a text, before the piece at that place. */
  ofBeginning({ after, restarts, taken, first }: PiecePlace): number {
    const cursor = this.#start === undefined ? 0 : Math.max(0, after - this.#start);
    const interrupted = Math.min(restarts, MOST_RESTARTS) * UNINTERRUPTED;
    return cursor * ROOM + TEXTS + interrupted + taken + first;
  }

  ofPiece(place: PiecePlace): number {
    return this.ofBeginning(place) + BEGINNING;
  }
}

/** True for the number of an event of a text that streamed, or of one after a void text. */
export function isOfText(number: number): boolean {
  return number % ROOM >= TEXTS;
}
