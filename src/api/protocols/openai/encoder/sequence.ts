import type { PiecePlace } from "../../../../contract/stream/text-pieces.ts";
import { CHECKS, NO_CHECKS, type OpenText, type TextSeen } from "./open-text.ts";

/** Characters of the texts between two interruptions of the run. */
const POSITIONS = 2 ** 17;
/** Numbers between two interruptions of the run: a number for each check of each position. */
const UNINTERRUPTED = POSITIONS * CHECKS;
/** The interruptions after one event that have numbers of their own. */
const MOST_RESTARTS = 6;
/** Numbers between two recorded events. */
const ROOM = (MOST_RESTARTS + 2) * UNINTERRUPTED;
/** Recorded events of a run that have numbers of their own: more are not exact. */
const MOST_EVENTS = Number.MAX_SAFE_INTEGER / ROOM - 1;
/** The first number of texts; those before it are for the recorded event. */
const TEXTS = 8;
/** The first number of events that no other stream has. */
const UNIQUE = ROOM - UNINTERRUPTED;

/**
 * The numbers of a response's events. They are made of the log's cursor and of the places of pieces, so that a stream that
 * is opened later numbers the same things alike, and what comes again after an interruption otherwise. The number of a piece
 * has a check of the text up to it: a client that continues says with it which text it has.
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
    this.#cursor = Math.min(cursor - this.#start, MOST_EVENTS);
  }

  /** Leaves out the numbers of events that only some streams have. */
  reserve(numbers: number): void {
    this.#last = Math.max(this.#last, this.#cursor * ROOM + numbers - 1);
  }

  /** The least number that the next event can have. */
  get upcoming(): number {
    return Math.max(this.#last + 1, this.#cursor * ROOM);
  }

  /** The number of the next event. */
  next(least = this.#cursor * ROOM): number {
    this.#last = Math.max(this.#last + 1, least);
    return this.#last;
  }

  /** The number of an event that no other stream will have. @param seen the number of the last event that the client has */
  unique(seen: number): number {
    const last = Math.max(this.#last, seen);
    return this.next(Math.max(Math.floor(last / ROOM) * ROOM + UNIQUE, last + 1));
  }

  /** The number of the first event of a text, before the piece at that place. */
  ofBeginning({ after, restarts, taken, until }: PiecePlace): number {
    return this.#ofText({ after, restarts }, taken + until - 1) + TEXTS;
  }

  /** The number of a piece. @param text the text with the piece */
  ofPiece(
    { after, restarts, taken, until }: PiecePlace,
    { shown, check }: Pick<OpenText<{ id: string }>, "shown" | "check">,
  ): number {
    const position = taken + Math.max(until, shown.length);
    return this.#ofText({ after, restarts }, position) + check;
  }

  #ofText({ after, restarts }: Pick<PiecePlace, "after" | "restarts">, position: number): number {
    const cursor = this.#start === undefined ? 0 : Math.max(0, after - this.#start);
    return (
      Math.min(cursor, MOST_EVENTS) * ROOM +
      Math.min(restarts, MOST_RESTARTS) * UNINTERRUPTED +
      Math.min(position, POSITIONS - 1) * CHECKS
    );
  }
}

/** True for the number of an event of a text that streamed, or of one that no other stream has. */
export function isOfText(number: number): boolean {
  return number % ROOM >= TEXTS;
}

/** True for the number of an event that no other stream has. */
export function isUnique(number: number): boolean {
  return number % ROOM >= UNIQUE;
}

/**
 * The text that a client has whose last event has this number, if the text was the first one after a recorded event. Undefined
 * if the number does not say so.
 */
export function textSeen(number: number): TextSeen | undefined {
  const inAttempt = (number % ROOM) % UNINTERRUPTED;
  const length = Math.floor(inAttempt / CHECKS);
  const check = inAttempt % CHECKS;
  return isUnique(number) || check < NO_CHECKS ? undefined : { length, check };
}
