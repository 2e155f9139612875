import type { TextPieces } from "../../../contract/stream/text-pieces.ts";
import type { Message } from "../../../core/messages/message.ts";
import type { EventLog, RecordedEvent } from "../../storage/event-log.ts";

export interface TurnEventsOptions {
  log: EventLog;
  /** Row of the run. */
  run: number;
  /** Number of the turn in the team's life. */
  turn: number;
  /** The cursor of the last commit: later events belong to this turn. */
  after: number;
  /** Ids of messages of the conversation that streams do not show. */
  quiet: ReadonlySet<string>;
}

/**
 * The messages of one turn. A turn that runs again emits the same ids, and the log keeps the first of each. Messages it does
 * not emit again (other code, random ids) are retracted.
 */
export class TurnEvents {
  readonly #options: TurnEventsOptions;
  /** Cursors of messages recorded before a restart and not emitted again yet, by message id. */
  readonly #outstanding = new Map<string, number[]>();
  readonly #emitted: { seq: number; id: string }[] = [];

  constructor(options: TurnEventsOptions) {
    this.#options = options;
    const { log, after } = options;
    if (log.last === after) return;
    for (const { seq, id } of log.messageIds(after)) {
      const seqs = this.#outstanding.get(id);
      if (seqs) seqs.push(seq);
      else this.#outstanding.set(id, [seq]);
    }
  }

  /**
   * Records a message; undefined when the log has it already.
   *
   * @param pieces that it was streamed in
   */
  emit(message: Message, pieces?: TextPieces): RecordedEvent | undefined {
    const { id } = message;
    const recorded = this.#outstanding.get(id)?.shift();
    if (recorded !== undefined) {
      this.#emitted.push({ seq: recorded, id });
      return undefined;
    }
    const { log, run, turn, quiet } = this.#options;
    const event = log.emit(run, turn, message, quiet.has(id) ? "quiet" : "message", pieces);
    this.#emitted.push({ seq: event.seq, id });
    return event;
  }

  /** Retracts messages recorded before a restart that were not emitted again. */
  retractOutstanding(): RecordedEvent | undefined {
    const left = [...this.#outstanding].flatMap(([id, seqs]) => seqs.map((seq) => ({ seq, id })));
    this.#outstanding.clear();
    return this.#retract(left);
  }

  /** The turn is given up: retracts all its messages. */
  retractAll(): RecordedEvent | undefined {
    const { log, after } = this.#options;
    this.#outstanding.clear();
    this.#emitted.length = 0;
    return this.#retract(log.messageIds(after));
  }

  #retract(messages: readonly { seq: number; id: string }[]): RecordedEvent | undefined {
    if (messages.length === 0) return undefined;
    const { log, run, turn } = this.#options;
    log.retract(messages.map(({ seq }) => seq));
    const message_ids = [...new Set(messages.map(({ id }) => id))];
    return log.append(run, turn, "retract", null, JSON.stringify({ message_ids }));
  }
}
