import type { TextPieces } from "../../../contract/stream/text-pieces.ts";
import type { ChatMessage, Message } from "../../../core/messages/message.ts";
import { isChatMessage } from "../../../core/messages/views.ts";
import type { EventLog, RecordedEvent } from "../../storage/log/event-log.ts";

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
  /** True for a message in the log that does not come from the turn: a person has sent it into the run. */
  isSentIn: (id: string) => boolean;
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
  #lastSaid: { seq: number; message: ChatMessage } | undefined;

  constructor(options: TurnEventsOptions) {
    this.#options = options;
    const { log, after } = options;
    if (log.last === after) return;
    for (const { seq, id } of this.#recorded()) {
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
      this.#add(recorded, message);
      return undefined;
    }
    const { log, run, turn, quiet } = this.#options;
    const event = log.emit(run, turn, message, quiet.has(id) ? "quiet" : "message", pieces);
    this.#add(event.seq, message);
    return event;
  }

  #add(seq: number, message: Message): void {
    this.#emitted.push({ seq, id: message.id });
    // In a turn that runs again, parallel branches may emit in another order than the log has.
    if (isChatMessage(message) && seq > (this.#lastSaid?.seq ?? 0))
      this.#lastSaid = { seq, message };
  }

  /** The last chat message in the log that the turn has emitted. */
  get lastSaid(): ChatMessage | undefined {
    return this.#lastSaid?.message;
  }

  /** The messages that the turn has emitted, in their order. */
  get messageIds(): string[] {
    return this.#emitted.map(({ id }) => id);
  }

  /** Retracts messages recorded before a restart that were not emitted again. */
  retractOutstanding(): RecordedEvent | undefined {
    const left = [...this.#outstanding].flatMap(([id, seqs]) => seqs.map((seq) => ({ seq, id })));
    this.#outstanding.clear();
    return this.#retract(left);
  }

  /** The turn is given up: retracts all its messages. */
  retractAll(): RecordedEvent | undefined {
    this.#outstanding.clear();
    this.#emitted.length = 0;
    this.#lastSaid = undefined;
    return this.#retract(this.#recorded());
  }

  /** True as long as messages of the log were not emitted again. */
  get isRepeating(): boolean {
    return [...this.#outstanding.values()].some((seqs) => seqs.length > 0);
  }

  #recorded(): { seq: number; id: string }[] {
    const { log, after, isSentIn } = this.#options;
    return log.messageIds(after).filter(({ id }) => !isSentIn(id));
  }

  #retract(messages: readonly { seq: number; id: string }[]): RecordedEvent | undefined {
    if (messages.length === 0) return undefined;
    const { log, run, turn } = this.#options;
    log.retract(messages.map(({ seq }) => seq));
    const message_ids = [...new Set(messages.map(({ id }) => id))];
    return log.append(run, turn, "retract", null, JSON.stringify({ message_ids }));
  }
}
