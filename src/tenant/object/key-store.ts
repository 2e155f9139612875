import { type Scope, SCOPES } from "../../contract/constants.ts";
import type { KeyInfo, KeyPage } from "../../contract/tenant/key.ts";
import { equalInConstantTime } from "../../core/equal.ts";
import { fromCursor, toCursor } from "../directory/cursor.ts";
import type { Database } from "../../sqlite/database.ts";

/** The stored data of a created key. */
export interface KeyRecord {
  name: string;
  scopes: Scope[];
  /** SHA-256 of the whole key, hex. */
  hash: string;
  created_at: string;
  expires_at: string | null;
  /** Epoch minutes. */
  last_used: number | null;
}

/** Read when the key does not exist, so that unknown and wrong keys take the same time. No text has this hash. */
const NO_RECORD = JSON.stringify({
  name: "unknown",
  scopes: [...SCOPES],
  hash: "0".repeat(64),
  created_at: "1970-01-01T00:00:00.000Z",
  expires_at: null,
  last_used: null,
} satisfies KeyRecord);

const FIND = "select coalesce((select record from key where id = ?), ?) as record";

const MINUTE = 60_000;

/** The keys of a tenant that were created through the API. */
export class KeyStore {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  create(id: string, record: KeyRecord): KeyInfo {
    this.#db.write("insert into key values (?, ?)", id, JSON.stringify(record));
    return keyInfo(id, record);
  }

  get size(): number {
    return this.#db.first<{ count: number }>("select count(*) as count from key")?.count ?? 0;
  }

  /** Deletes expired keys. */
  clean(now: number): void {
    for (const { id, expires_at } of this.#list()) {
      if (isOver(expires_at, now)) this.#db.write("delete from key where id = ?", id);
    }
  }

  /** A page, newest first; undefined for an invalid cursor. */
  page({ limit, cursor }: { limit: number; cursor?: string }): KeyPage | undefined {
    const position = cursor === undefined ? [] : fromCursor(cursor, ["string", "string"]);
    if (position === undefined) return undefined;
    const [created_at, id] = position.map(String);
    const rest = this.#list().filter(
      (key) => created_at === undefined || newestFirst(key, { created_at, id: id ?? "" }) > 0,
    );
    const keys = rest.slice(0, limit);
    const last = keys.at(-1);
    const next_cursor =
      last !== undefined && rest.length > limit ? toCursor(last.created_at, last.id) : null;
    return { keys, next_cursor };
  }

  /** All keys, newest first. Their number is limited per tenant. */
  #list(): KeyInfo[] {
    return this.#db
      .all<{ id: string; record: string }>("select id, record from key")
      .map(({ id, record }) => keyInfo(id, JSON.parse(record) as KeyRecord))
      .toSorted(newestFirst);
  }

  /** Returns whether the key existed. */
  revoke(id: string): boolean {
    const query = "select record from key where id = ?";
    const known = this.#db.first(query, id) !== undefined;
    if (known) this.#db.write("delete from key where id = ?", id);
    return known;
  }

  /** True if there is such a key that has not expired. */
  has(id: string, now: number): boolean {
    const [row] = this.#db.all<{ record: string }>("select record from key where id = ?", id);
    return row !== undefined && !isOver((JSON.parse(row.record) as KeyRecord).expires_at, now);
  }

  /** Returns the key if `hash` is its hash and it has not expired, and records the minute of its use. */
  verify(id: string, hash: string, now: number): KeyInfo | undefined {
    const [row] = this.#db.all<{ record: string }>(FIND, id, NO_RECORD);
    const record = JSON.parse(row?.record ?? NO_RECORD) as KeyRecord;
    if (!equalInConstantTime(record.hash, hash)) return undefined;
    if (isOver(record.expires_at, now)) return undefined;
    const minute = Math.floor(now / MINUTE);
    if (record.last_used === minute) return keyInfo(id, record);
    const used = { ...record, last_used: minute };
    this.#db.write("update key set record = ? where id = ?", JSON.stringify(used), id);
    return keyInfo(id, used);
  }
}

function isOver(expires_at: string | null, now: number): boolean {
  return expires_at !== null && Date.parse(expires_at) <= now;
}

type Position = Pick<KeyInfo, "created_at" | "id">;

function newestFirst(one: Position, other: Position): number {
  const [left, right] = [`${one.created_at} ${one.id}`, `${other.created_at} ${other.id}`];
  return left === right ? 0 : left < right ? 1 : -1;
}

function keyInfo(id: string, record: KeyRecord): KeyInfo {
  const { name, scopes, created_at, expires_at, last_used } = record;
  return {
    id,
    name,
    scopes,
    created_at,
    expires_at,
    last_used_at: last_used === null ? null : new Date(last_used * MINUTE).toISOString(),
  };
}
