import type { Reservation } from "../../contract/gateways/tenant-gateway.ts";
import { ok, type Result } from "../../contract/result.ts";
import { limitReached } from "../../contract/tenant-limits.ts";
import { idempotencyMismatch } from "../object/refusals.ts";
import type { Database } from "../storage/database.ts";
import type { Directory } from "./directory/directory.ts";

/** A reservation that no team confirmed within this time is checked, and dropped when there is no such team. */
const RESERVED_MS = 60_000;

/** Ids of teams that are being created: the limit, the idempotency key and the id are checked in one transaction. */
export class Reservations {
  readonly #db: Database;
  readonly #directory: Directory;

  constructor(db: Database, directory: Directory) {
    this.#db = db;
    this.#directory = directory;
  }

  /**
   * Takes an id. The same key with the same body answers the id it was given first.
   *
   * @param most how many teams the tenant may have
   */
  reserve({ id, idempotency }: Reservation, most: number, now: number): Result<{ id: string }> {
    if (idempotency) {
      const earlier = this.#db.first<{ hash: string; team: string }>(
        "select hash, team from idempotency where key = ?",
        idempotency.key,
      );
      if (earlier) {
        if (earlier.hash === idempotency.hash) return ok({ id: earlier.team });
        return idempotencyMismatch();
      }
    }
    // An id that is taken or reserved already is not refused here: the team itself decides who created it.
    if (this.#directory.team(id) === undefined && !this.#isReserved(id)) {
      const teams = this.#directory.size + this.#count();
      if (teams >= most) {
        return limitReached("teams", { limit: "teams", value: most, seconds: 60 });
      }
      this.#db.write(
        "insert into reservation values (?, ?, ?)",
        id,
        now + RESERVED_MS,
        idempotency?.key ?? null,
      );
    }
    if (idempotency) {
      this.#db.write(
        "insert into idempotency values (?, ?, ?)",
        idempotency.key,
        idempotency.hash,
        id,
      );
    }
    return ok({ id });
  }

  /** Ids whose reservation has expired. */
  expired(now: number): string[] {
    return this.#db
      .all<{ id: string }>("select id from reservation where until <= ?", now)
      .map(({ id }) => id);
  }

  /** When the next one expires, epoch milliseconds. */
  get nextExpiry(): number | null {
    return (
      this.#db.first<{ at: number | null }>("select min(until) as at from reservation")?.at ?? null
    );
  }

  /** Keeps a reservation whose team was created and has not told yet. */
  extend(id: string, now: number): void {
    this.#db.write("update reservation set until = ? where id = ?", now + RESERVED_MS, id);
  }

  /** Forgets a reservation whose team was never made, and its key. */
  drop(id: string): void {
    const key = this.#db.first<{ idempotency: string | null }>(
      "select idempotency from reservation where id = ?",
      id,
    )?.idempotency;
    this.#db.write("delete from reservation where id = ?", id);
    if (key != null) this.#db.write("delete from idempotency where key = ? and team = ?", key, id);
  }

  #isReserved(id: string): boolean {
    return this.#db.first("select 1 as found from reservation where id = ?", id) !== undefined;
  }

  #count(): number {
    return this.#db.first<{ n: number }>("select count(*) as n from reservation")?.n ?? 0;
  }
}
