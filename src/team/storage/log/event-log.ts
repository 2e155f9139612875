import type { Message } from "../../../core/messages/message.ts";
import type { TextPieces } from "../../../contract/stream/text-pieces.ts";
import type { MessagePage, MessageQuery } from "../../../contract/team.ts";
import { commitAt, commitsAfter } from "./commits.ts";
import type { TextStore } from "../../../sqlite/text-store.ts";
import type { Database } from "../../../sqlite/database.ts";
import { EventReferences } from "./event-references.ts";
import { MAX_PAGE_BYTES } from "../../../sqlite/page-limit.ts";

/**
 * `message`: an item as the run yielded it. `quiet`: a message of the conversation that streams do not show (a
 * task with `output_task_messages: false`, the messages of a loaded state). `again`: a message that a loaded
 * conversation repeats; the body is its cursor. `memory`: a person changed what the team remembers. The other kinds record
 * changes of the run, or of messages.
 */
export type EventKind =
  | "message"
  | "quiet"
  | "again"
  | "retract"
  | "result"
  | "failed"
  | "cancelled"
  | "memory";

/** A recorded event; `body` is JSON text. */
export interface RecordedEvent {
  seq: number;
  run: number;
  kind: EventKind;
  body: string;
  /** For a streamed message: the pieces of its text. */
  pieces?: TextPieces;
}

interface EventRow extends Record<string, string | number | null> {
  seq: number;
  run: number;
  kind: EventKind;
  turn: number;
  id: string | null;
  body: string | null;
}

/** A message of the conversation; `body` is null when it is stored in parts. */
export interface ConversationRow {
  seq: number;
  turn: number;
  id: string | null;
  body: string | null;
  owner: string;
}

const EVERYTHING = { after: 0, before: Number.MAX_SAFE_INTEGER };

const INSERT_EVENT =
  "insert into event (seq, run, turn, kind, id, body, pieces) values (?, ?, ?, ?, ?, ?, ?)";
const COLUMNS = "seq, run, turn, kind, id, body";

/** The team's event log: all events that streams replay after a reconnect, in the order of their cursors. */
export class EventLog {
  readonly #db: Database;
  readonly #texts: TextStore;
  readonly references: EventReferences;
  #last: number | undefined;

  constructor(db: Database, texts: TextStore) {
    this.#db = db;
    this.#texts = texts;
    this.references = new EventReferences((seq) => this.#body(seq));
  }

  /** The cursor of the last event, 0 before the first. */
  get last(): number {
    this.#last ??=
      this.#db.first<{ seq: number | null }>("select max(seq) as seq from event")?.seq ?? 0;
    return this.#last;
  }

  /** Appends an event. @param id the message's id */
  append(
    run: number,
    turn: number,
    kind: EventKind,
    id: string | null,
    body: string,
  ): RecordedEvent {
    const event = this.#next(run, kind, body);
    const column = this.#texts.store(eventOwner(event.seq), body);
    this.#db.write(INSERT_EVENT, event.seq, run, turn, kind, id, column, null);
    return event;
  }

  /** Appends a message of a person, inside a transaction. */
  appendMessage(run: number, turn: number, message: Message): RecordedEvent {
    const body = JSON.stringify(message);
    const event = this.append(run, turn, "message", message.id, body);
    this.references.recorded(event.seq, message, body);
    return event;
  }

  /**
   * Appends a message of a turn in progress, after the steps that it builds on. Not inside a transaction.
   *
   * @param pieces in which it was streamed
   */
  emit(
    run: number,
    turn: number,
    message: Message,
    kind: "message" | "quiet",
    pieces?: TextPieces,
  ): RecordedEvent {
    const body = JSON.stringify(message);
    const event = this.#next(run, kind, body);
    const { seq } = event;
    this.#db.writeLater(
      "event",
      INSERT_EVENT,
      seq,
      run,
      turn,
      kind,
      message.id,
      () => this.#texts.store(eventOwner(seq), body),
      pieces === undefined ? null : storedPieces(pieces),
    );
    if (pieces !== undefined) event.pieces = pieces;
    this.references.recorded(seq, message, body);
    return event;
  }

  /** Drops the copies in memory after a failed transaction. */
  forget(): void {
    this.#last = undefined;
    this.references.forget();
  }

  /** Marks the messages at these cursors as not being part of the conversation. */
  retract(seqs: readonly number[]): void {
    for (const seq of seqs) this.#db.write("update event set retracted = 1 where seq = ?", seq);
  }

  /**
   * Adds the messages of a loaded conversation. A message that the log already has is only marked as part of this
   * conversation too, and not shown twice.
   */
  adopt(turn: number, conversation: readonly Message[]): void {
    const known = new Map(this.messageIds(0).map(({ id, seq }) => [id, seq]));
    for (const message of conversation) {
      const seq = known.get(message.id);
      if (seq === undefined) this.append(0, turn, "quiet", message.id, JSON.stringify(message));
      else this.append(0, turn, "again", message.id, String(seq));
    }
  }

  /**
   * The messages of the conversation in `(after, upTo]`, with the owner of their parts. A message that a loaded
   * conversation repeats is read from its first row and gets the cursor of the repetition.
   */
  *conversation(after: number, upTo: number): Iterable<ConversationRow> {
    for (const row of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq <= ? and retracted = 0
         and kind in ('message', 'quiet', 'again') order by seq`,
      [after, upTo],
      ({ seq }) => [seq, upTo],
    )) {
      const { seq } = row;
      const said = row.kind === "again" ? this.#at(Number(row.body)) : row;
      if (said === undefined) throw new RangeError(`event ${seq} repeats one that does not exist`);
      yield { seq, turn: said.turn, id: said.id, body: said.body, owner: eventOwner(said.seq) };
    }
  }

  /** Inserts a message of the forked team's conversation. Its parts must be stored first. */
  copy({ seq, turn, id, body }: Omit<ConversationRow, "owner">): void {
    this.#db.write(
      "insert into event (seq, run, turn, kind, id, body) values (?, 0, ?, 'quiet', ?, ?)",
      seq,
      turn,
      id,
      body,
    );
    this.#last = undefined;
  }

  /** Messages after a cursor that were not retracted, without their bodies. */
  messageIds(after: number): { seq: number; id: string }[] {
    return this.#db.all<{ seq: number; id: string }>(
      `select seq, id from event where seq > ? and retracted = 0 and kind in ('message', 'quiet') order by seq`,
      after,
    );
  }

  /** The ids of the messages of a run's result. */
  resultIds(after: number, upTo: number): string[] {
    return this.#db
      .all<{ id: string | null }>(
        "select id from event where seq > ? and seq <= ? and retracted = 0 and kind = 'message' order by seq",
        after,
        upTo,
      )
      .map(({ id }) => id ?? "");
  }

  /** The messages of a run's result in `(after, upTo]`: shown and not retracted. */
  *result(after: number, upTo: number): Iterable<{ id: string; bytes: number; read(): Message }> {
    for (const { seq, id, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq <= ? and retracted = 0 and kind = 'message' order by seq`,
      [after, upTo],
      (row) => [row.seq, upTo],
    )) {
      yield {
        id: id ?? "",
        bytes: this.#texts.size(eventOwner(seq), body),
        read: () => JSON.parse(this.#texts.load(eventOwner(seq), body)) as Message,
      };
    }
  }

  /** The events that streams show after a cursor: about `bytes` of them, at least one if there are any. */
  page(after: number, bytes: number): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    if (after >= this.last) return events;
    let size = 0;
    for (const { seq, run, kind, body, pieces } of this.#db.each<
      EventRow & { pieces: string | null }
    >(
      `select ${COLUMNS}, pieces from event where seq > ? and kind not in ('quiet', 'again') order by seq`,
      [after],
      (row) => [row.seq],
    )) {
      const text = this.#texts.load(eventOwner(seq), body);
      const cut = pieces === null ? {} : { pieces: readPieces(pieces) };
      events.push({ seq, run, kind, body: text, ...cut });
      size += text.length;
      if (size >= bytes) break;
    }
    return events;
  }

  /** The conversation: at most `limit` messages, fewer if they are large, oldest first. */
  messages(query: MessageQuery): MessagePage["messages"] {
    const { turn: wanted, limit } = query;
    const place = wanted === undefined ? EVERYTHING : this.#placeOf(wanted);
    const after = Math.max(query.after ?? 0, place.after);
    const before = Math.min(query.before ?? place.before, place.before);
    const backwards = query.before !== undefined && query.after === undefined;
    const ofTurn = wanted === undefined ? [] : [wanted];
    const found: MessagePage["messages"] = [];
    let bytes = 0;
    for (const { seq, turn, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq < ? and retracted = 0
         and kind in ('message', 'quiet') ${wanted === undefined ? "" : "and turn = ?"}
         order by seq ${backwards ? "desc" : "asc"}`,
      [after, before, ...ofTurn],
      (row) => [backwards ? after : row.seq, backwards ? row.seq : before, ...ofTurn],
    )) {
      if (found.length === limit) break;
      const text = this.#texts.load(eventOwner(seq), body);
      bytes += text.length;
      if (found.length > 0 && bytes > MAX_PAGE_BYTES) break;
      found.push({ seq, turn, ...(JSON.parse(text) as Message) });
    }
    return backwards ? found.toReversed() : found;
  }

  /** The conversation after a cursor, newest first. `size`: characters or bytes of its JSON. */
  *backwards(after: number): Iterable<{ size: number; read(): Message }> {
    for (const { seq, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq < ? and retracted = 0
         and kind in ('message', 'quiet') order by seq desc`,
      [after, Number.MAX_SAFE_INTEGER],
      (row) => [after, row.seq],
    )) {
      yield {
        size: this.#texts.size(eventOwner(seq), body),
        read: () => JSON.parse(this.#texts.load(eventOwner(seq), body)) as Message,
      };
    }
  }

  #next(run: number, kind: EventKind, body: string): RecordedEvent {
    const seq = this.last + 1;
    this.#last = seq;
    return { seq, run, kind, body };
  }

  /** The cursors around a turn's events. In a fork, the exact cursors of earlier turns are unknown. */
  #placeOf(turn: number): { after: number; before: number } {
    const previous = commitAt(this.#db, this.#texts, turn - 1);
    const [own] = commitsAfter(this.#db, this.#texts, turn - 1, 1);
    return {
      after: previous?.event ?? 0,
      before: own === undefined ? EVERYTHING.before : own.event + 1,
    };
  }

  #body(seq: number): string {
    const row = this.#at(seq);
    if (row === undefined)
      throw new RangeError(`a stored item refers to event ${seq}, which does not exist`);
    return this.#texts.load(eventOwner(seq), row.body);
  }

  #at(seq: number): EventRow | undefined {
    return this.#db.first<EventRow>(`select ${COLUMNS} from event where seq = ?`, seq);
  }
}

export function eventOwner(seq: number): string {
  return `event:${seq}`;
}

function storedPieces({ after, restarts, taken, first, lengths }: TextPieces): string {
  return JSON.stringify([after, restarts, taken, first, ...lengths]);
}

function readPieces(stored: string): TextPieces {
  const [after = 0, restarts = 0, taken = 0, first = 0, ...lengths] = JSON.parse(
    stored,
  ) as number[];
  return { after, restarts, taken, first, lengths };
}
