import type { Message } from "../../core/messages/message.ts";
import type { MessagePage } from "../../contract/team.ts";
import type { Bodies } from "./bodies.ts";
import type { Database } from "./database.ts";
import { MOST_PAGE_BYTES } from "../object/page.ts";

/**
 * `message`: an item as the run yielded it. `quiet`: one that belongs to the conversation and is not shown by streams (a
 * task with `output_task_messages: false`, what was said before a state was loaded). `again`: a message that a loaded
 * conversation repeats; the body is its cursor. The others are named after what they tell.
 */
export type EventKind =
  | "message"
  | "quiet"
  | "again"
  | "retract"
  | "result"
  | "failed"
  | "cancelled";

/** A recorded event; `body` is JSON text. */
export interface RecordedEvent {
  seq: number;
  run: number;
  kind: EventKind;
  body: string;
}

interface EventRow extends Record<string, string | number | null> {
  seq: number;
  run: number;
  kind: EventKind;
  turn: number;
  id: string | null;
  body: string | null;
}

/** A message of the conversation; `body` is null when it stands in parts. */
export interface ConversationRow {
  seq: number;
  turn: number;
  id: string | null;
  body: string | null;
  owner: string;
}

const COLUMNS = "seq, run, turn, kind, id, body";

/** Everything a stream yields and keeps, in the order of its cursor. */
export class EventLog {
  readonly #db: Database;
  readonly #bodies: Bodies;
  #last: number | undefined;

  constructor(db: Database, bodies: Bodies) {
    this.#db = db;
    this.#bodies = bodies;
  }

  /** The cursor of the last event, 0 before the first. */
  get last(): number {
    this.#last ??=
      this.#db.first<{ seq: number | null }>("select max(seq) as seq from event")?.seq ?? 0;
    return this.#last;
  }

  /** Inserts an event behind the last. @param id the message's */
  append(
    run: number,
    turn: number,
    kind: EventKind,
    id: string | null,
    body: string,
  ): RecordedEvent {
    const seq = this.last + 1;
    const column = this.#bodies.store(eventOwner(seq), body);
    this.#db.write(
      "insert into event values (?, ?, ?, ?, ?, ?, 0)",
      seq,
      run,
      turn,
      kind,
      id,
      column,
    );
    this.#last = seq;
    return { seq, run, kind, body };
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#last = undefined;
  }

  /** Marks the messages at these cursors as not being part of the conversation. */
  retract(seqs: readonly number[]): void {
    for (const seq of seqs) this.#db.write("update event set retracted = 1 where seq = ?", seq);
  }

  /**
   * Adds what was said elsewhere, in the loaded conversation of a team. What stands in the log already is not shown
   * twice; it is only noted that it belongs to this conversation, too.
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
   * The messages of a conversation whose rows stand in `(after, upTo]`, with their parts' owner. Of one that a loaded
   * conversation repeats: the row it stands in, under the cursor of its repetition.
   */
  *conversation(after: number, upTo: number): Iterable<ConversationRow> {
    for (const row of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq <= ? and retracted = 0
         and kind in ('message', 'quiet', 'again') order by seq`,
      after,
      upTo,
    )) {
      const { seq } = row;
      const said = row.kind === "again" ? this.#at(Number(row.body)) : row;
      if (said === undefined) throw new RangeError(`event ${seq} repeats one that does not exist`);
      yield { seq, turn: said.turn, id: said.id, body: said.body, owner: eventOwner(said.seq) };
    }
  }

  /** Takes over a message of another team's conversation. Its parts have to be there. */
  copy({ seq, turn, id, body }: Omit<ConversationRow, "owner">): void {
    this.#db.write("insert into event values (?, 0, ?, 'quiet', ?, ?, 0)", seq, turn, id, body);
    this.#last = undefined;
  }

  /** Messages after a cursor that were not retracted, without their bodies. */
  messageIds(after: number): { seq: number; id: string }[] {
    return this.#db.all<{ seq: number; id: string }>(
      `select seq, id from event where seq > ? and retracted = 0 and kind in ('message', 'quiet') order by seq`,
      after,
    );
  }

  /** The messages of `(after, upTo]` a result is made of: shown and not retracted. */
  *result(after: number, upTo: number): Iterable<{ id: string; bytes: number; read(): Message }> {
    for (const { seq, id, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq <= ? and retracted = 0 and kind = 'message' order by seq`,
      after,
      upTo,
    )) {
      yield {
        id: id ?? "",
        bytes: this.#bodies.size(eventOwner(seq), body),
        read: () => JSON.parse(this.#bodies.load(eventOwner(seq), body)) as Message,
      };
    }
  }

  /** What streams show after a cursor, about `bytes` of it, at least one event if there is any. */
  page(after: number, bytes: number): RecordedEvent[] {
    const events: RecordedEvent[] = [];
    if (after >= this.last) return events;
    let size = 0;
    for (const { seq, run, kind, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and kind not in ('quiet', 'again') order by seq`,
      after,
    )) {
      const text = this.#bodies.load(eventOwner(seq), body);
      events.push({ seq, run, kind, body: text });
      size += text.length;
      if (size >= bytes) break;
    }
    return events;
  }

  /** Bodies of messages in a range, retracted or not, by id. */
  bodies(after: number, upTo: number): Map<string, string> {
    const found = new Map<string, string>();
    for (const { seq, id, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq <= ? and kind in ('message', 'quiet')`,
      after,
      upTo,
    )) {
      if (id !== null) found.set(id, this.#bodies.load(eventOwner(seq), body));
    }
    return found;
  }

  /** The conversation: at most `limit` messages, fewer big ones, after or last before a cursor; oldest first. */
  messages(page: { after?: number; before?: number; limit: number }): MessagePage["messages"] {
    const { after = 0, before = Number.MAX_SAFE_INTEGER, limit } = page;
    const backwards = page.before !== undefined && page.after === undefined;
    const found: MessagePage["messages"] = [];
    let bytes = 0;
    for (const { seq, turn, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and seq < ? and retracted = 0
         and kind in ('message', 'quiet') order by seq ${backwards ? "desc" : "asc"} limit ?`,
      after,
      before,
      limit,
    )) {
      const text = this.#bodies.load(eventOwner(seq), body);
      bytes += text.length;
      if (found.length > 0 && bytes > MOST_PAGE_BYTES) break;
      found.push({ seq, turn, ...(JSON.parse(text) as Message) });
    }
    return backwards ? found.toReversed() : found;
  }

  /** The conversation after a cursor, newest first. `size`: characters or bytes of its JSON. */
  *backwards(after: number): Iterable<{ size: number; read(): Message }> {
    for (const { seq, body } of this.#db.each<EventRow>(
      `select ${COLUMNS} from event where seq > ? and retracted = 0
         and kind in ('message', 'quiet') order by seq desc`,
      after,
    )) {
      yield {
        size: this.#bodies.size(eventOwner(seq), body),
        read: () => JSON.parse(this.#bodies.load(eventOwner(seq), body)) as Message,
      };
    }
  }

  #at(seq: number): EventRow | undefined {
    return this.#db.first<EventRow>(`select ${COLUMNS} from event where seq = ?`, seq);
  }
}

export function eventOwner(seq: number): string {
  return `event:${seq}`;
}
