import type { TextMessage } from "../messages/chat-messages.ts";
import { CuttableCalls } from "../turn/cuttable-calls.ts";
import type { CuttableCall, Reader, SteeringHost } from "../turn/steering.ts";
import type { SteeringOptions } from "../turn/turn-context.ts";

/** The messages into a run in memory. A turn that fails loses those that were read in it. */
export class MemorySteering implements SteeringHost {
  readonly #calls = new CuttableCalls(
    (reader) => reader.unread(this.#waiting).length > 0,
    () => false,
  );
  /** The messages that the team itself has not read. */
  #waiting: readonly TextMessage[] = [];
  /** Those that the stream of the run has not shown. */
  #unshown: TextMessage[] = [];

  send(message: TextMessage): void {
    this.#waiting = [...this.#waiting, message];
    this.#unshown.push(message);
    this.#calls.arrived([message]);
  }

  /** The messages that came since the last call. */
  takeUnshown(): TextMessage[] {
    return this.#unshown.splice(0);
  }

  read(_key: string, reader: Reader, { earlier }: SteeringOptions = {}): readonly TextMessage[] {
    // A run in memory has no earlier one.
    if (earlier === true) return [];
    const messages = reader.unread(this.#waiting);
    for (const { id } of messages) reader.takes(id);
    if (reader.parent === undefined) {
      const read = new Set(messages);
      this.#waiting = this.#waiting.filter((message) => !read.has(message));
    }
    return messages;
  }

  begins(call: CuttableCall): void {
    this.#calls.begins(call);
  }

  ended(call: CuttableCall): void {
    this.#calls.ended(call);
  }

  wasCut(): void {}
}
