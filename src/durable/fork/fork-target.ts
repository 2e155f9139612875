import type { Result } from "../../contract/result.ts";
import { isRepeated, newRecord } from "../object/create-team.ts";
import {
  FIRST_ROW,
  type ForkCursor,
  type ForkPage,
  type ForkPoint,
  type ForkProgress,
  type ForkRequest,
  type ForkRow,
} from "./fork.ts";
import { ok, refuse } from "../../contract/result.ts";
import { createTables, hasTables, holdsTeam } from "../storage/schema.ts";
import { disownLastCommit } from "../storage/commits.ts";
import type { Stores } from "../storage/stores.ts";

/** An unfinished fork is deleted after so long without progress. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/** The request of the incoming fork, and the turn it starts from. */
interface Incoming {
  request: ForkRequest;
  point: ForkPoint;
}

/** The position of the copy, and when it was reached (epoch milliseconds). */
interface Arrived {
  cursor: ForkCursor;
  at: number;
}

/**
 * An object that is becoming a fork. Each page is stored when it arrives; the team's own row is written last, so that the
 * team exists only once the copy is complete.
 */
export class ForkTarget {
  readonly #storage: DurableObjectStorage;
  readonly #stores: Stores;
  readonly #tenant: string | undefined;

  /** @param tenant of the fork */
  constructor(storage: DurableObjectStorage, stores: Stores, tenant: string | undefined) {
    this.#storage = storage;
    this.#stores = stores;
    this.#tenant = tenant;
  }

  /** The progress of an earlier attempt of this request, null if there was none. */
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

  /** Starts the copy unless this request has started it; deletes the unfinished one of another request. */
  async begin(request: ForkRequest, point: ForkPoint): Promise<Result<ForkProgress>> {
    const begun = this.progress(request);
    if (!begun.ok) return begun;
    if (begun.value !== null) return ok(begun.value);
    await this.erase();
    const { db, meta } = this.#stores;
    this.#stores.transaction(() => {
      createTables(db);
      meta.write("fork", { request, point } satisfies Incoming);
      this.#note(FIRST_ROW);
    });
    void this.#storage.setAlarm(Date.now() + ABANDONED_AFTER_MS);
    const { created_at, turn } = point;
    return ok({ done: false, position: { created_at, turn }, cursor: FIRST_ROW });
  }

  /** Stores the page that follows `cursor`, unless it is stored already. */
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
    this.#stores.transaction(() => {
      for (const row of rows) this.#insert(row, position.turn);
      if (next) this.#note(next);
      else this.#complete();
    });
    if (next) return ok({ done: false, position, cursor: next });
    void this.#storage.deleteAlarm();
    return ok({ done: true });
  }

  /** The alarm: deletes an abandoned fork, or sets the alarm again. */
  async tick(): Promise<void> {
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
    const { db, log, texts } = this.#stores;
    switch (row.table) {
      case "head":
        db.write("insert into head values (?, ?, ?)", row.path, turn, row.body);
        return;
      case "log": {
        const { path, start, count, body } = row;
        db.write("insert into log values (?, 0, ?, ?, ?, ?)", path, start, count, turn, body);
        return;
      }
      case "event":
        log.copy(row);
        return;
      case "part":
        texts.copyPart(row.owner, row.n, row.body);
        return;
    }
  }

  #complete(): void {
    const { announcer, db, texts, meta, team, log } = this.#stores;
    const { request, point } = this.#incoming() as Incoming;
    const { team_id, turn, cancelled, label, metadata, component, expires_in } = point;
    disownLastCommit(db, texts, { turn, event: log.last, cancelled });
    const lifetime = expires_in === undefined ? {} : { expires_in };
    const input = { ...request, label, metadata, ...lifetime };
    const record = newRecord(input, this.#tenant, { team_id, turn });
    team.create(record, component);
    announcer.team();
    meta.remove("fork");
    meta.remove("fork_arrived");
  }

  #note(cursor: ForkCursor): void {
    this.#stores.meta.write("fork_arrived", { cursor, at: Date.now() } satisfies Arrived);
  }

  #incoming(): Incoming | undefined {
    if (!hasTables(this.#stores.db)) return undefined;
    return this.#stores.meta.read("fork") as unknown as Incoming | undefined;
  }

  #arrived(): Arrived {
    return this.#stores.meta.read("fork_arrived") as unknown as Arrived;
  }
}

function isSame(one: ForkCursor, other: ForkCursor): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
