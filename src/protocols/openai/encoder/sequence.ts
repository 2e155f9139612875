/** Numbers between two recorded events. Further ones share the last. */
const ROOM = 65_536;

/**
 * The numbers of a response's events. They are made of the log's cursor and of the characters of text since then, so that a
 * stream that is opened later numbers the same things alike, although it has a text as one piece.
 */
export class Sequence {
  /** The cursor that counts as 0. */
  #start: number | undefined;
  #cursor = 0;
  #used = -1;

  /** @param after the cursor after which the response begins; 0 if it begins with its run */
  constructor(after: number) {
    this.#start = after === 0 ? undefined : after;
  }

  /** Everything up to this cursor was numbered. */
  advance(cursor: number): void {
    this.#start ??= cursor - 1;
    this.#cursor = cursor - this.#start;
    this.#used = -1;
  }

  /** Leaves out the numbers of events that only some streams have. */
  reserve(numbers: number): void {
    this.#used = Math.max(this.#used, numbers - 1);
  }

  /** The number of the next event, or of the last character of the next piece of text. */
  next(length = 1): number {
    this.#used = Math.min(ROOM - 1, this.#used + length);
    return this.#cursor * ROOM + this.#used;
  }
}
