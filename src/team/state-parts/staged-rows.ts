import type { StateRow } from "../../contract/team/state-parts.ts";
import { fromBase64 } from "../../core/base64.ts";
import type { JsonObject } from "../../core/json.ts";
import { type Commit, snapshotOwner } from "../storage/log/commits.ts";
import type { Database } from "../../sqlite/database.ts";
import { eventOwner } from "../storage/log/event-log.ts";
import { LazyTable } from "../../sqlite/lazy-table.ts";
import { logOwner } from "../storage/team-state.ts";
import { dropIndexes } from "../storage/tables/search-index.ts";
import { joined } from "../../sqlite/part-store.ts";
import type { Stores } from "../storage/stores.ts";

const COLUMNS =
  "part integer, n integer, kind text not null, path text, start integer, count integer, body blob, primary key (part, n)";

/** The rows of a state that waits for its commit. On commit they replace the current rows within SQLite. */
export class StagedRows {
  readonly #stores: Stores;
  readonly #db: Database;
  readonly #table: LazyTable;

  constructor(stores: Stores) {
    this.#stores = stores;
    this.#db = stores.db;
    this.#table = new LazyTable(stores.db, "staged", `(${COLUMNS}) without rowid`);
  }

  /** Adds a row of a part. @param n its number in the part */
  add(part: number, n: number, row: StateRow): void {
    this.#table.create();
    const { blobs } = this.#stores.texts;
    const write = (kind: string, path: string | null, start: number, count: number | null): void =>
      this.#db.write(
        "insert into staged values (?, ?, ?, ?, ?, ?, ?)",
        part,
        n,
        kind,
        path,
        start,
        count,
        row.type === "text"
          ? fromBase64(row.body).buffer
          : row.body && blobs.share(JSON.stringify(row.body), userOf(part)),
      );
    switch (row.type) {
      case "head":
        return write("head", row.path, 0, null);
      case "log":
        return write("log", row.path, row.start, row.count);
      case "message":
        return write("message", row.id, row.seq, null);
      case "text":
        return write("text", row.of, row.n, null);
    }
  }

  /**
   * A body that came in `text` lines, in this part or at the end of the previous part; undefined if its beginning is
   * missing.
   */
  text(owner: string, part: number): string | undefined {
    const decoder = new TextDecoder();
    let text = "";
    let first: number | undefined;
    for (const { start, body } of this.#db.each<{ start: number; body: ArrayBuffer }>(
      "select start, body from staged where part in (?, ?) and kind = 'text' and path = ? and start >= ? order by start",
      [part - 1, part, owner, 0],
      (row) => [part - 1, part, owner, row.start + 1],
    )) {
      first ??= start;
      text += decoder.decode(body, { stream: true });
    }
    return first === 0 ? text + decoder.decode() : undefined;
  }

  /** Removes one part, or all of them. */
  remove(part: number | "all"): void {
    if (!this.#table.exists) return;
    const { blobs } = this.#stores.texts;
    const parts = part === "all" ? this.#parts() : [part];
    for (const one of parts) blobs.release(userOf(one));
    if (part === "all") this.#db.write("delete from staged");
    else this.#db.write("delete from staged where part = ?", part);
  }

  /**
   * Makes the rows the state of a turn, inside a transaction: earlier rows are hidden behind them, as by any loaded
   * state.
   */
  swap(commit: Commit, turnOfSource: number): void {
    for (const part of this.#parts()) this.#stores.texts.blobs.keepAll(userOf(part));
    this.#messages(commit.turn);
    this.#logs(commit.turn);
    this.#heads({ ...commit, event: this.#lastEvent() }, turnOfSource);
    this.#db.write("delete from staged");
    dropIndexes(this.#db, new Set());
    this.#stores.log.forget();
    this.#stores.commits.forget();
  }

  /** A message that the log already has is only marked as part of this conversation too, and not shown twice. */
  #messages(turn: number): void {
    const first = this.#lastEvent();
    this.#db.write(
      `insert into event (seq, run, turn, kind, id, body)
         select ? + row_number() over (order by s.part, s.n), 0, ?, iif(known.seq is null, 'quiet', 'again'), s.path,
           iif(known.seq is null, s.body, cast(known.seq as text))
         from staged s left join
           (select id, min(seq) as seq from event where retracted = 0 and kind in ('message', 'quiet') group by id) known
           on known.id = s.path
         where s.kind = 'message'`,
      first,
      turn,
    );
    for (const { seq, start } of this.#db.all<{ seq: number; start: number }>(
      `select seq, start from (
         select ? + row_number() over (order by part, n) as seq, start, body from staged where kind = 'message'
       ) as message where body is null
         and exists (select 1 from event where event.seq = message.seq and kind = 'quiet')`,
      first,
    )) {
      const body = this.#moveText(eventOwner(start), eventOwner(seq));
      if (body !== null) this.#db.write("update event set body = ? where seq = ?", body, seq);
    }
  }

  #logs(turn: number): void {
    const stored = new Map(
      this.#db
        .all<{ path: string; last: number }>(
          "select path, max(generation) as last from log group by path",
        )
        .map(({ path, last }) => [path, last]),
    );
    for (const { path } of this.#db.all<{ path: string }>(
      "select distinct path from staged where kind = 'log'",
    )) {
      const generation = (stored.get(path) ?? -1) + 1;
      stored.delete(path);
      this.#db.write(
        "insert into log select path, ?, start, count, ?, body from staged where kind = 'log' and path = ?",
        generation,
        turn,
        path,
      );
      for (const { start } of this.#db.all<{ start: number }>(
        "select start from staged where kind = 'log' and path = ? and body is null",
        path,
      )) {
        const body = this.#moveText(logOwner(path, 0, start), logOwner(path, generation, start));
        if (body !== null)
          this.#db.write(
            "update log set body = ? where path = ? and generation = ? and start = ?",
            body,
            path,
            generation,
            start,
          );
      }
    }
    // The marker of an empty generation, in the form that LogStore writes.
    for (const [path, last] of stored) {
      this.#db.write("insert into log values (?, ?, -1, 1, ?, '[]')", path, last + 1, turn);
    }
  }

  #heads(commit: Commit, turnOfSource: number): void {
    const { texts } = this.#stores;
    const heads = new Map<string, JsonObject>([["", {}]]);
    for (const { path } of this.#db.all<{ path: string }>("select distinct path from head")) {
      heads.set(path, {});
    }
    for (const { path, body } of this.#db.all<{ path: string; body: string | null }>(
      "select path, body from staged where kind = 'head'",
    )) {
      const values =
        body === null
          ? this.#largeHead(snapshotOwner(path, turnOfSource))
          : texts.blobs.restore(body);
      heads.set(path, JSON.parse(values) as JsonObject);
    }
    for (const [path, values] of heads) {
      const text = JSON.stringify(path === "" ? { commit, heads: values } : { heads: values });
      const column = texts.store(snapshotOwner(path, commit.turn), text);
      this.#db.write(
        "insert into head (path, turn, body) values (?, ?, ?)",
        path,
        commit.turn,
        column,
      );
    }
  }

  /** The values of a head that came in parts, with the blobs that a fork would copy. */
  #largeHead(owner: string): string {
    const { heads } = JSON.parse(this.#textOf(owner)) as { heads: JsonObject };
    return JSON.stringify(heads);
  }

  /** Returns the value for the column of the new owner. */
  #moveText(from: string, to: string): string | null {
    return this.#stores.texts.store(to, this.#textOf(from));
  }

  #textOf(owner: string): string {
    const parts = this.#db.all<{ n: number; body: ArrayBuffer }>(
      "select start as n, body from staged where kind = 'text' and path = ? order by start",
      owner,
    );
    return new TextDecoder().decode(joined(parts));
  }

  #parts(): number[] {
    return this.#db
      .all<{ part: number }>("select distinct part from staged")
      .map(({ part }) => part);
  }

  #lastEvent(): number {
    return this.#db.first<{ seq: number | null }>("select max(seq) as seq from event")?.seq ?? 0;
  }
}

/** Owner of references to blobs until the commit. */
function userOf(part: number): string {
  return `staged:${part}`;
}
