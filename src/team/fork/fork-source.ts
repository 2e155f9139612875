import { ok, type Refused, type Result, teamNotFound } from "../../contract/result.ts";
import { PLAYGROUND, MOST_VERSIONS } from "../../contract/constants.ts";
import { eventOwner } from "../storage/log/event-log.ts";
import type {
  BlobCursor,
  ForkPage,
  ForkPoint,
  ForkPosition,
  ForkRow,
  MemoryCursor,
  RowCursor,
  CopiedRow,
  Unread,
} from "./fork.ts";
import { commitAt, snapshotOwner, standsAtCancellation } from "../storage/log/commits.ts";
import { logOwner, LogStore } from "../storage/team-state.ts";
import { PART_BYTES } from "../../sqlite/part-store.ts";
import { type Stores, sentToEndedRuns } from "../storage/stores.ts";
import { textParts } from "../../sqlite/text-store.ts";

/** Approximate size of a page. */
const PAGE_BYTES = 1_000_000;
/** Rows of a log are joined up to this size; reading the last items parses the whole row. */
const LOG_ROW_BYTES = 64 * 1024;

/** A page of rows; `next` is null at the end. */
interface CopiedRows {
  rows: CopiedRow[];
  next: RowCursor | null;
}

interface Item {
  row: CopiedRow;
  next: RowCursor;
}

/**
 * Reads the rows of a fork up to its turn: the current generation of each log and the last snapshot of each
 * participant.
 */
export class ForkSource {
  readonly #stores: Stores;
  readonly #logStore: LogStore;
  readonly #content: "with references" | "resolved";

  /** @param content whether texts refer to blobs */
  constructor(stores: Stores, content: "with references" | "resolved") {
    this.#stores = stores;
    this.#logStore = new LogStore(stores.db, stores.texts, stores.log.references);
    this.#content = content;
  }

  /** @param turn null for the last finished one */
  point(turn: number | null): Result<ForkPoint> {
    const { commits, team, versions } = this.#stores;
    const { id, created_at, label, metadata, forked_from, expires_in, user } = team.record;
    const first = forked_from?.turn ?? 0;
    const last = commits.turn;
    if (turn !== null && (turn < first || turn > last)) {
      return unknownTurn(
        `The team has no finished turn ${turn}: choose one from ${first} to ${last}.`,
        `must be from ${first} to ${last}`,
      );
    }
    // The mark of a variant that was tried does not pass to forks of it.
    const { [PLAYGROUND]: _, ...inherited } = metadata;
    const at = turn ?? last;
    const unread = at === last ? this.#unread() : undefined;
    const component = versions.at(at);
    if (component === undefined) {
      return unknownTurn(
        `The component that the team had at the end of turn ${at} is not kept any more: ${MOST_VERSIONS} others have followed it, and no run ran with it.`,
        "must be one whose component is kept",
      );
    }
    return ok({
      team_id: id,
      created_at,
      turn: at,
      cancelled: standsAtCancellation(this.#stores, at),
      label,
      metadata: inherited,
      ...(expires_in !== undefined && { expires_in }),
      ...(user !== undefined && { user }),
      component,
      ...(unread && { unread }),
    });
  }

  #unread(): Unread | undefined {
    const sent = sentToEndedRuns(this.#stores).map(({ run, message }) => ({ run, message }));
    const changes = this.#stores.board.changes.map(({ change }) => change);
    return sent.length + changes.length === 0 ? undefined : { sent, changes };
  }

  page({ created_at, turn }: ForkPosition, cursor: RowCursor): Result<CopiedRows> {
    if (this.#stores.team.record.created_at !== created_at) return teamNotFound();
    const rows: CopiedRow[] = [];
    let bytes = 0;
    for (const { row, next } of this.#rows(turn, cursor)) {
      rows.push(row);
      bytes += typeof row.body === "string" ? row.body.length : (row.body?.byteLength ?? 0);
      if (bytes >= PAGE_BYTES) return ok({ rows, next });
    }
    return ok({ rows, next: null });
  }

  /** The memories as they were at the turn. */
  memories({ created_at, turn }: ForkPosition, { place }: MemoryCursor): Result<ForkPage> {
    if (this.#stores.team.record.created_at !== created_at) return teamNotFound();
    const rows: ForkRow[] = [];
    let bytes = 0;
    for (const [copied, next] of this.#stores.memory.heldAt(turn, place)) {
      rows.push({ table: "memory", ...copied });
      bytes += copied.body.length + (copied.vector?.bytes.byteLength ?? 0);
      if (bytes >= PAGE_BYTES) return ok({ rows, next: { table: "memory", place: next } });
    }
    return ok({ rows, next: null });
  }

  /** The requested blobs, as many as fit on a page. */
  blobs({ created_at }: ForkPosition, { wanted }: BlobCursor): Result<ForkPage> {
    if (this.#stores.team.record.created_at !== created_at) return teamNotFound();
    const page: ForkPage = { rows: [], next: null };
    let bytes = 0;
    for (const part of this.#stores.texts.blobs.read(wanted)) {
      page.rows.push({ table: "blob", ...part });
      bytes += part.body.byteLength;
      if (bytes >= PAGE_BYTES) break;
    }
    return ok(page);
  }

  *#rows(turn: number, cursor: RowCursor): Iterable<Item> {
    if (cursor.table === "head") yield* this.#heads(turn, cursor);
    if (cursor.table !== "event") {
      const start = { table: "log", path: null, n: -1, part: 0 } as const;
      yield* this.#logs(turn, cursor.table === "log" ? cursor : start);
    }
    const start = { table: "event", path: null, n: 0, part: 0 } as const;
    yield* this.#events(turn, cursor.table === "event" ? cursor : start);
  }

  *#heads(turn: number, cursor: RowCursor): Iterable<Item> {
    let before = cursor;
    for (const path of this.#paths("head", cursor.path)) {
      const head = this.#stores.db.first<{ turn: number; body: string | null }>(
        "select turn, body from head where path = ? and turn <= ? order by turn desc limit 1",
        path,
        turn,
      );
      if (head === undefined) continue;
      const { body } = head;
      const next: RowCursor = { table: "head", path, n: 0, part: 0 };
      const owners = [snapshotOwner(path, head.turn), snapshotOwner(path, turn)] as const;
      yield* this.#item(before, { table: "head", path, body }, owners, next);
      before = next;
    }
  }

  *#logs(turn: number, cursor: RowCursor): Iterable<Item> {
    if (cursor.path !== null) yield* this.#log(turn, cursor.path, cursor);
    for (const path of this.#paths("log", cursor.path)) {
      yield* this.#log(turn, path, { table: "log", path, n: -1, part: 0 });
    }
  }

  /** The rows of one log after the cursor, without the marker of an empty generation. */
  *#log(turn: number, path: string, cursor: RowCursor): Iterable<Item> {
    const generation = this.#logStore.generationAt(path, turn);
    if (generation === undefined) return;
    let before = cursor;
    let joined: JoinedRows | undefined;
    for (const row of this.#stores.db.each<LogRow>(
      "select start, count, turn, body from log where path = ? and generation = ? and start > ? order by start",
      [path, generation, cursor.n],
      ({ start }) => [path, generation, start],
    )) {
      const { start, count, body } = row;
      if (row.turn > turn) break;
      const owner = logOwner(path, generation, start);
      const text = body && this.#withoutEvents(body);
      const size = text === null ? 0 : this.#stores.texts.size(owner, text);
      const large = text === null || size > PART_BYTES;
      if (joined && (joined.full || large)) {
        yield joined.item;
        before = joined.item.next;
        joined = undefined;
      }
      if (large) {
        const owners = [owner, logOwner(path, 0, start)] as const;
        const next: RowCursor = { table: "log", path, n: start + count - 1, part: 0 };
        yield* this.#item(before, { table: "log", path, start, count, body: text }, owners, next);
        before = next;
      } else {
        joined ??= new JoinedRows(path, start);
        joined.add(count, this.#asAsked(owner, text), size);
      }
    }
    if (joined) yield joined.item;
  }

  *#events(turn: number, cursor: RowCursor): Iterable<Item> {
    const { db, texts, log } = this.#stores;
    const commit = commitAt(db, texts, turn);
    if (commit === undefined) return;
    let before = cursor;
    const after = Math.max(commit.since, cursor.n);
    for (const { seq, turn: said, id, body, owner } of log.conversation(after, commit.event)) {
      const next = { table: "event", path: null, n: seq, part: 0 } as const;
      const owners = [owner, eventOwner(seq)] as const;
      yield* this.#item(before, { table: "event", seq, turn: said, id, body }, owners, next);
      before = next;
    }
  }

  /** A row, preceded by the missing parts of its body. @param owners the owners of the parts, in the source and in the fork */
  *#item(
    before: RowCursor,
    row: Exclude<CopiedRow, { table: "part" }>,
    [from, to]: readonly [string, string],
    next: RowCursor,
  ): Iterable<Item> {
    const text = this.#asAsked(from, row.body);
    const parts = textParts(text);
    for (const { n, body } of parts ?? []) {
      if (n >= before.part)
        yield { row: { table: "part", owner: to, n, body }, next: { ...before, part: n + 1 } };
    }
    yield { row: { ...row, body: parts ? null : text }, next };
  }

  #asAsked(owner: string, column: string | null): string {
    const { texts } = this.#stores;
    return this.#content === "resolved" ? texts.load(owner, column) : texts.stored(owner, column);
  }

  /** The body of a log's row without references to the events of the source. */
  #withoutEvents(body: string): string {
    const { log, texts } = this.#stores;
    if (!log.references.isIn(body)) return body;
    const items = log.references.read(texts.blobs.restore(body));
    return texts.blobs.referTo(JSON.stringify(items));
  }

  /** The paths of a table after one. Found step by step: each path has a row for every turn that changed it. */
  *#paths(table: "head" | "log", after: string | null): Iterable<string> {
    if (after === null) yield "";
    for (let path = after ?? ""; ;) {
      const found = this.#stores.db.first<{ path: string }>(NEXT_PATH[table], path);
      if (found === undefined) return;
      path = found.path;
      yield path;
    }
  }
}

function unknownTurn(detail: string, message: string): Refused {
  const errors = [{ path: "turn", message }];
  return { ok: false, problem: { status: 422, code: "unknown_turn", detail, errors } };
}

const NEXT_PATH = {
  head: "select path from head where path > ? order by path limit 1",
  log: "select path from log where path > ? order by path limit 1",
};

interface LogRow extends Record<string, string | number | null> {
  start: number;
  count: number;
  turn: number;
  body: string | null;
}

/** Joins the rows of many turns into one, so that a fork does not write a row per turn. */
class JoinedRows {
  readonly #path: string;
  readonly #start: number;
  readonly #texts: string[] = [];
  #count = 0;
  #size = 0;

  constructor(path: string, start: number) {
    this.#path = path;
    this.#start = start;
  }

  get full(): boolean {
    return this.#size >= LOG_ROW_BYTES;
  }

  /**
   * @param body a JSON array that is not empty, without references to the events of the source
   * @param size with its blobs
   */
  add(count: number, body: string, size: number): void {
    this.#count += count;
    this.#texts.push(body.slice(1, -1));
    this.#size += size;
  }

  get item(): Item {
    const [path, start, count] = [this.#path, this.#start, this.#count];
    return {
      row: { table: "log", path, start, count, body: `[${this.#texts.join(",")}]` },
      next: { table: "log", path, n: start + count - 1, part: 0 },
    };
  }
}
