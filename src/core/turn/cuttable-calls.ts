import type { TextMessage } from "../messages/chat-messages.ts";
import type { CuttableCall, Reader } from "./steering.ts";

/** In a burst of messages, the calls of a reader are cut once in this time at most. */
const BETWEEN_CUTS_MS = 1_000;

/** The model calls under way that a message may cut. */
export class CuttableCalls {
  readonly #isUnread: (reader: Reader) => boolean;
  readonly #hasShown: (messageId: string) => boolean;
  readonly #calls = new Map<CuttableCall, ReturnType<typeof setTimeout> | undefined>();
  readonly #lastCut = new WeakMap<Reader, number>();

  /**
   * @param isUnread whether something may be read that the reader has not read
   * @param hasShown whether a piece of the message's text has arrived
   */
  constructor(isUnread: (reader: Reader) => boolean, hasShown: (messageId: string) => boolean) {
    this.#isUnread = isUnread;
    this.#hasShown = hasShown;
  }

  /** A call is about to be sent. It is not, if something is unread. */
  begins(call: CuttableCall): void {
    this.#calls.set(call, undefined);
    if (this.#isUnread(call.reader)) call.cut();
  }

  ended(call: CuttableCall): void {
    clearTimeout(this.#calls.get(call));
    this.#calls.delete(call);
  }

  /** Messages have come into the run. */
  arrived(messages: readonly TextMessage[]): void {
    for (const [call, timer] of this.#calls) {
      if (timer !== undefined || call.reader.unread(messages).length === 0) continue;
      const since = Date.now() - (this.#lastCut.get(call.reader) ?? 0);
      if (since >= BETWEEN_CUTS_MS) this.#cut(call);
      else
        this.#calls.set(
          call,
          setTimeout(() => this.#cut(call), BETWEEN_CUTS_MS - since),
        );
    }
  }

  #cut(call: CuttableCall): void {
    if (!this.#calls.has(call)) return;
    this.#calls.set(call, undefined);
    const { messageId, reader } = call;
    const hasArrived = call.hasArrived || (messageId !== undefined && this.#hasShown(messageId));
    if (hasArrived || !this.#isUnread(reader)) return;
    this.#lastCut.set(reader, Date.now());
    call.cut();
  }
}

/** A call under way that a message may cut. */
export class Cuttable implements CuttableCall {
  readonly key: string;
  readonly reader: Reader;
  readonly messageId: string | undefined;
  readonly #abort = new AbortController();
  hasArrived = false;
  isCut = false;
  wasSent = false;
  /** The model that was called. */
  model: string | undefined;

  constructor(key: string, reader: Reader, messageId: string | undefined) {
    this.key = key;
    this.reader = reader;
    this.messageId = messageId;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  cut(): void {
    this.isCut = true;
    this.#abort.abort();
  }
}
