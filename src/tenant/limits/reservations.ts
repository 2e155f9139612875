import type { Reservation } from "../../contract/gateways/tenant-gateway.ts";
import { idempotencyMismatch, ok, type Result } from "../../contract/result.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import type { Database } from "../../sqlite/database.ts";
import type { Directory } from "../directory/directory.ts";
import type { StoredBytes } from "./stored-bytes.ts";

/** A reservation that no team confirms within this time is checked, and dropped when the team does not exist. */
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
   * Reserves an id. A repeated request with the same key and body gets the id of the first one.
   *
   * @param stored what the tenant's objects store
   */
  reserve(
    { id, idempotency }: Reservation,
    limits: TenantLimits,
    stored: StoredBytes,
    now: number,
  ): Result<{ id: string }> {
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
    if (!this.isKnown(id)) {
      const { teams: most } = limits;
      const teams = this.#directory.size + this.#count();
      if (teams >= most) {
        return limitReached("teams", {
          limit: "teams",
          value: most,
          seconds: 60,
          remedy: "Delete teams that are not used, or have the limit raised.",
        });
      }
      const refused = stored.refuse(limits);
      if (refused) return refused;
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

  /** When the next reservation expires, epoch milliseconds. */
  get nextExpiry(): number | null {
    return (
      this.#db.first<{ at: number | null }>("select min(until) as at from reservation")?.at ?? null
    );
  }

  /** Keeps the reservation of a team that was created but has not reported to the tenant yet. */
  extend(id: string, now: number): void {
    this.#db.write("update reservation set until = ? where id = ?", now + RESERVED_MS, id);
  }

  /** Deletes the reservation and the key of a team that was never created. */
  drop(id: string): void {
    const key = this.#db.first<{ idempotency: string | null }>(
      "select idempotency from reservation where id = ?",
      id,
    )?.idempotency;
    this.#db.write("delete from reservation where id = ?", id);
    this.#directory.tools.drop(id);
    if (key != null) this.#db.write("delete from idempotency where key = ? and team = ?", key, id);
  }

  /** True for a team that is listed, or that is being created. */
  isKnown(id: string): boolean {
    const query = "select 1 as found from reservation where id = ?";
    return this.#directory.has(id) || this.#db.first(query, id) !== undefined;
  }

  #count(): number {
    return this.#db.first<{ n: number }>("select count(*) as n from reservation")?.n ?? 0;
  }
}
