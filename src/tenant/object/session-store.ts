import type { ProtocolSession, SessionChange } from "../../contract/gateways/tenant-gateway.ts";
import { ok, refuse, type Result } from "../../contract/result.ts";
import type { Database } from "../../sqlite/database.ts";

/** The time for which a session is kept after its last change. */
const KEPT_MS = 7 * 24 * 3600 * 1000;

/** Those that were changed last are kept, so that a client that makes a session for each call does not fill the tenant's object. */
export const MOST_SESSIONS = 1_000;

/** The settings that clients of protocols have stored in their sessions. */
export class SessionStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  get(id: string, now: number): ProtocolSession | null {
    const row = this.#db.first<{ record: string }>(
      "select record from session where id = ? and until > ?",
      id,
      now,
    );
    return row === undefined ? null : (JSON.parse(row.record) as ProtocolSession);
  }

  change(id: string, { level, add, remove, most }: SessionChange, now: number): Result<null> {
    const stored = this.get(id, now) ?? { level: null, subjects: [] };
    const others = stored.subjects.filter((one) => one !== add && one !== remove);
    const subjects = add === undefined ? others : [...others, add];
    if (subjects.length > most) {
      return refuse(409, "too_many_subscriptions", `A session has at most ${most} subscriptions.`);
    }
    const record: ProtocolSession = { level: level ?? stored.level, subjects };
    this.#db.write("delete from session where until <= ?", now);
    this.#db.write(
      "insert into session values (?, ?, ?) on conflict (id) do update set until = excluded.until, record = excluded.record",
      id,
      now + KEPT_MS,
      JSON.stringify(record),
    );
    this.#db.write(
      "delete from session where id in (select id from session order by until desc limit -1 offset ?)",
      MOST_SESSIONS,
    );
    return ok(null);
  }
}
