import { ok, refuse, type Result } from "../../contract/result.ts";
import { isRepeated, newRecord } from "../storage/create-team.ts";
import {
  FIRST_MEMORY,
  FIRST_ROW,
  type ForkCursor,
  type ForkPage,
  type ForkPoint,
  type ForkProgress,
  type ForkRequest,
  type ForkRow,
} from "./fork.ts";
import { createTables, hasTables, holdsTeam } from "../storage/tables/schema.ts";
import { disownLastCommit, snapshotOwner } from "../storage/log/commits.ts";
import { eventOwner } from "../storage/log/event-log.ts";
import { logOwner } from "../storage/team-state.ts";
import { objectKey } from "../storage/tables/meta-store.ts";
import type { Stores } from "../storage/stores.ts";

/** An unfinished fork is deleted after this many milliseconds without progress. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/** The request of the incoming fork, and the turn from which it starts. */
interface Incoming {
  request: ForkRequest;
  point: ForkPoint;
}

const FORK = objectKey<Incoming>("fork", ["request", "point"]);

/** The position of the copy, and when it was reached (epoch milliseconds). */
interface Arrived {
  cursor: ForkCursor;
  at: number;
}

const ARRIVED = objectKey<Arrived>("fork_arrived", ["cursor", "at"]);

/**
 * An object that is becoming a fork. Each page is stored when it arrives. The team's own row is written last, so that
 * the team exists only once the copy is complete.
 */
export class ForkTarget {
  readonly #storage: DurableObjectStorage;
  readonly #stores: Stores;
  readonly #tenant: string | undefined;

  /** @param tenant the tenant of the fork */
  constructor(storage: DurableObjectStorage, stores: Stores, tenant: string | undefined) {
    this.#storage = storage;
    this.#stores = stores;
    this.#tenant = tenant;
  }

  /** The progress of an earlier attempt of this request; null if there was none. */
  progress(request: ForkRequest): Result<ForkProgress | null> {
    if (holdsTeam(this.#stores.db)) {
      const repeated = isRepeated(this.#stores, request);
      return repeated.ok ? ok({ done: true }) : repeated;
    }
    const incoming = this.#incoming();
    if (incoming?.request.origin !== request.origin) return ok(null);
    const { created_at, turn } = incoming.point;
    return ok({ done: false, position: { created_at, turn }, cursor: this.#arrived().cursor });
  }

  /** Starts the copy unless this request has started it already; deletes the unfinished copy of another request. */
  async begin(request: ForkRequest, point: ForkPoint): Promise<Result<ForkProgress>> {
    const earlier = this.progress(request);
    if (!earlier.ok) return earlier;
    if (earlier.value !== null) return ok(earlier.value);
    await this.erase();
    const { board, db, meta, steering } = this.#stores;
    const { unread, ...kept } = point;
    this.#stores.db.transaction(() => {
      createTables(db);
      meta.write(FORK, { request, point: kept });
      for (const { run, message } of unread?.sent ?? []) {
        steering.add({ run, id: message.id, event: null, message });
      }
      for (const change of unread?.changes ?? []) board.add(change);
      this.#note(FIRST_ROW);
    });
    void this.#storage.setAlarm(Date.now() + ABANDONED_AFTER_MS);
    const { created_at, turn } = point;
    return ok({ done: false, position: { created_at, turn }, cursor: FIRST_ROW });
  }

  /** Stores the page that follows `cursor`, unless it is already stored. */
  receive(
    request: ForkRequest,
    cursor: ForkCursor,
    { rows, next }: ForkPage,
  ): Result<ForkProgress> {
    const before = this.progress(request);
    if (!before.ok) return before;
    if (before.value === null) {
      return refuse(
        409,
        "team_exists",
        `The id "${request.id}" was taken by another request in the meantime.`,
      );
    }
    if (before.value.done || !isSame(before.value.cursor, cursor)) return ok(before.value);
    const { position } = before.value;
    let following: ForkCursor | undefined;
    if (rows.some(({ table }) => table === "memory")) this.#stores.memory.create();
    this.#stores.db.transaction(() => {
      for (const row of rows) this.#insert(row, position.turn);
      following = next ?? (isOfState(cursor) ? FIRST_MEMORY : this.#lacking());
      if (following) this.#note(following);
      else this.#complete();
    });
    if (following) return ok({ done: false, position, cursor: following });
    void this.#storage.deleteAlarm();
    return ok({ done: true });
  }

  /** On alarm: deletes an abandoned fork, or sets the alarm again. */
  async onAlarm(): Promise<void> {
    if (!hasTables(this.#stores.db) || holdsTeam(this.#stores.db)) return;
    const now = Date.now();
    const due = this.#arrived().at + ABANDONED_AFTER_MS;
    await this.#storage.setAlarm(due > now ? due : now + ABANDONED_AFTER_MS);
    if (due <= now) await this.erase();
  }

  /** Deletes the unfinished copy and the alarm, both or neither. */
  async erase(): Promise<void> {
    if (hasTables(this.#stores.db)) await this.#storage.deleteAll();
  }

  #insert(row: ForkRow, turn: number): void {
    const { db, log, memory, texts } = this.#stores;
    switch (row.table) {
      case "head": {
        const body = texts.receive(snapshotOwner(row.path, turn), row.body);
        db.write("insert into head (path, turn, body) values (?, ?, ?)", row.path, turn, body);
        return;
      }
      case "log": {
        const { path, start, count } = row;
        const body = texts.receive(logOwner(path, 0, start), row.body);
        db.write("insert into log values (?, 0, ?, ?, ?, ?)", path, start, count, turn, body);
        return;
      }
      case "event":
        log.copy({ ...row, body: texts.receive(eventOwner(row.seq), row.body) });
        return;
      case "memory":
        memory.receive(row);
        return;
      case "part":
        texts.receivePart(row.owner, row.n, row.body);
        return;
      case "blob":
        texts.blobs.receive(row);
        return;
    }
  }

  /** The missing blobs, after all rows and after each page of blobs. */
  #lacking(): ForkCursor | undefined {
    const { wanted } = this.#stores.texts.blobs;
    return wanted.length === 0 ? undefined : { table: "blob", wanted };
  }

  #complete(): void {
    const { announcer, commits, db, texts, meta, team, log, steering } = this.#stores;
    const { request, point } = this.#incoming() as Incoming;
    const { team_id, turn, cancelled, label, metadata, component, expires_in, user } = point;
    disownLastCommit(db, texts, { turn, event: log.last, cancelled });
    commits.forget();
    // After what the commit has, as in the source.
    for (const sent of steering.all) {
      const event = log.append(0, turn + 1, "quiet", sent.id, JSON.stringify(sent.message));
      steering.logged(sent, event.seq);
    }
    const lifetime = expires_in === undefined ? {} : { expires_in };
    const input = { label, metadata, ...request, user, ...lifetime };
    const record = newRecord(input, this.#tenant, { team_id, turn });
    team.create(record, component);
    announcer.team();
    meta.remove(FORK);
    meta.remove(ARRIVED);
  }

  #note(cursor: ForkCursor): void {
    this.#stores.meta.write(ARRIVED, { cursor, at: Date.now() });
  }

  #incoming(): Incoming | undefined {
    if (!hasTables(this.#stores.db)) return undefined;
    return this.#stores.meta.read(FORK);
  }

  #arrived(): Arrived {
    const arrived = this.#stores.meta.read(ARRIVED);
    if (arrived === undefined) throw new TypeError("the fork has no position");
    return arrived;
  }
}

function isOfState({ table }: ForkCursor): boolean {
  return table !== "memory" && table !== "blob";
}

function isSame(one: ForkCursor, other: ForkCursor): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
