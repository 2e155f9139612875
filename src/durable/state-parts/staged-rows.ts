import type { StateRow } from "../../contract/state-parts.ts";
import { fromBase64 } from "../../core/base64.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Commit } from "../storage/commits.ts";
import type { Database } from "../storage/database.ts";
import { eventOwner } from "../storage/event-log.ts";
import { LazyTable } from "../storage/lazy-table.ts";
import { logOwner } from "../storage/log-store.ts";
import { dropIndexes } from "../storage/search-index.ts";
import { snapshotOwner } from "../storage/snapshots.ts";
import type { Stores } from "../storage/stores.ts";

const COLUMNS =
  "part integer, n integer, kind text not null, path text, start integer, count integer, body blob, primary key (part, n)";

/** The rows of a state that waits for its commit. They take the place of the present ones without leaving SQLite. */
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
    const write = (kind: string, path: string | null, start: number, count: number | null): void =>
      this.#db.write(
        "insert into staged values (?, ?, ?, ?, ?, ?, ?)",
        part,
        n,
        kind,
        path,
        start,
        count,
        bodyOf(row),
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

  /** A body that came in `text` lines, in this part or at the end of the one before; undefined where its beginning is missing. */
  text(owner: string, part: number): string | undefined {
    const decoder = new TextDecoder();
    let text = "";
    let first: number | undefined;
    // To the end in any case: a reader that stops in the middle keeps the table locked.
    for (const { start, body } of this.#db.each<{ start: number; body: ArrayBuffer }>(
      "select start, body from staged where part in (?, ?) and kind = 'text' and path = ? order by start",
      part - 1,
      part,
      owner,
    )) {
      first ??= start;
      text += decoder.decode(body, { stream: true });
    }
    return first === 0 ? text + decoder.decode() : undefined;
  }

  /** Removes one part, or all of them. */
  remove(part: number | "all"): void {
    if (!this.#table.exists) return;
    if (part === "all") this.#db.write("delete from staged");
    else this.#db.write("delete from staged where part = ?", part);
  }

  /** After a transaction that failed. */
  forget(): void {
    this.#table.forget();
  }

  /**
   * Makes the rows the state of a turn, inside a transaction: what was stored is hidden behind them, as by any state that is
   * loaded.
   */
  swap(commit: Commit, turnOfSource: number): void {
    this.#messages(commit.turn);
    this.#logs(commit.turn);
    this.#heads({ ...commit, event: this.#lastEvent() }, turnOfSource);
    this.#db.write("delete from staged");
    dropIndexes(this.#db, new Set());
    this.#stores.log.forget();
  }

  /** Those that the log has already are only marked as part of this conversation, too. */
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
       ) where body is null`,
      first,
    )) {
      this.#moveText(eventOwner(start), eventOwner(seq));
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
        this.#moveText(logOwner(path, 0, start), logOwner(path, generation, start));
      }
    }
    // The marker of an empty generation, as LogStore writes it.
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
      const values = body === null ? this.#largeHead(snapshotOwner(path, turnOfSource)) : body;
      heads.set(path, JSON.parse(values) as JsonObject);
    }
    for (const [path, values] of heads) {
      const text = JSON.stringify(path === "" ? { commit, heads: values } : { heads: values });
      const column = texts.store(snapshotOwner(path, commit.turn), text);
      this.#db.write("insert into head values (?, ?, ?)", path, commit.turn, column);
    }
  }

  /** The values of a head that came in parts, with what a fork would copy beside them. */
  #largeHead(owner: string): string {
    const decoder = new TextDecoder();
    let text = "";
    for (const { body } of this.#textsOf(owner)) text += decoder.decode(body, { stream: true });
    const { heads } = JSON.parse(text + decoder.decode()) as { heads: JsonObject };
    return JSON.stringify(heads);
  }

  #moveText(from: string, to: string): void {
    for (const { n, body } of this.#textsOf(from)) this.#stores.texts.copyPart(to, n, body);
  }

  #textsOf(owner: string): { n: number; body: ArrayBuffer }[] {
    return this.#db.all(
      "select start as n, body from staged where kind = 'text' and path = ? order by start",
      owner,
    );
  }

  #lastEvent(): number {
    return this.#db.first<{ seq: number | null }>("select max(seq) as seq from event")?.seq ?? 0;
  }
}

function bodyOf(row: StateRow): string | ArrayBuffer | null {
  if (row.type === "text") return fromBase64(row.body).buffer;
  return row.body && JSON.stringify(row.body);
}
