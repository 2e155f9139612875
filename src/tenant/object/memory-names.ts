import { ok, type Refused, type Result } from "../../contract/result.ts";
import type { StoredMemories } from "../../contract/gateways/tenant-gateway.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";

/** The kinds of objects whose number is limited, by the beginning of their names. */
const LIMITS = {
  "collection/": { limit: "collections", remedy: "Delete collections that are not used" },
  "user/": { limit: "memory_users", remedy: "Erase the memories of users who are gone" },
} as const;

/** All objects; those of earlier versions have not reported what they store. */
const STORED = `(
  select memory.name, coalesce(bytes, 0) as bytes, coalesce(empty, 0) as empty
    from memory left join memory_stored on memory_stored.name = memory.name
)`;

type Kind = keyof typeof LIMITS;

const KINDS = Object.keys(LIMITS) as Kind[];

/** The tenant's objects of class `MemoryObject`: their names without the tenant, and what they store. */
export class MemoryNames {
  readonly #db: Database;
  /** The number of objects of a kind that store something. */
  readonly #counts = new Map<Kind, number>();
  #bytes: number | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  get collections(): number {
    return this.#count("collection/");
  }

  get users(): number {
    return this.#count("user/");
  }

  /** The bytes of all objects, as they have reported them. */
  get storedBytes(): number {
    this.#bytes ??=
      this.#db.first<{ n: number }>("select total(bytes) as n from memory_stored")?.n ?? 0;
    return this.#bytes;
  }

  /** The refusal of an object that stores nothing yet, where its tenant has as many of the kind as it may have. */
  refuse(name: string, limits: TenantLimits): Refused | undefined {
    const kind = kindOf(name);
    if (kind === undefined || this.#find(name)?.empty === 0) return undefined;
    const { limit, remedy } = LIMITS[kind];
    const value = limits[limit];
    if (this.#count(kind) < value) return undefined;
    return limitReached(limit, {
      limit,
      value,
      seconds: 60,
      remedy: `${remedy}, or have the limit raised.`,
    });
  }

  /** Records an object that is about to store something. */
  put(name: string, { bytes, empty }: StoredMemories): void {
    const existing = this.#find(name);
    const flag = empty ? 1 : 0;
    if (existing?.bytes === bytes && existing.empty === flag) return;
    if (existing === undefined) this.#db.write("insert into memory values (?)", name);
    this.#db.write("insert or replace into memory_stored values (?, ?, ?)", name, bytes, flag);
    this.#changed(name, existing, { bytes, empty: flag });
  }

  /** Records what an object stores now, unless it was removed meanwhile. */
  update(name: string, stored: StoredMemories): void {
    if (this.#find(name) !== undefined) this.put(name, stored);
  }

  /** @returns whether it was known */
  remove(name: string): boolean {
    const existing = this.#find(name);
    if (existing === undefined) return false;
    this.#db.write("delete from memory where name = ?", name);
    this.#db.write("delete from memory_stored where name = ?", name);
    this.#changed(name, existing, undefined);
    return true;
  }

  some(limit: number): string[] {
    return this.#after("", limit);
  }

  /** Those that begin with `prefix`. */
  page({
    prefix,
    limit,
    cursor,
  }: {
    prefix: string;
    limit: number;
    cursor?: string;
  }): Result<{ names: string[]; next_cursor: string | null }> {
    const position = cursor === undefined ? [prefix] : fromCursor(cursor, ["string"]);
    if (position === undefined) return invalidCursor();
    const found = this.#after(String(position[0]), limit + 1).filter((name) =>
      name.startsWith(prefix),
    );
    const names = found.slice(0, limit);
    const last = names.at(-1);
    const next_cursor = found.length > limit && last !== undefined ? toCursor(last) : null;
    return ok({ names, next_cursor });
  }

  #find(name: string): Row | undefined {
    return this.#db.first<Row>(`select bytes, empty from ${STORED} where name = ?`, name);
  }

  #count(kind: Kind): number {
    const existing = this.#counts.get(kind);
    if (existing !== undefined) return existing;
    const row = this.#db.first<{ n: number }>(
      `select count(*) as n from ${STORED} where name >= ? and name < ? and empty = 0`,
      kind,
      // The character after the slash.
      kind.replace("/", "0"),
    );
    this.#counts.set(kind, row?.n ?? 0);
    return row?.n ?? 0;
  }

  /** Counting again would read all rows. */
  #changed(name: string, before: Row | undefined, after: Row | undefined): void {
    if (this.#bytes !== undefined) this.#bytes += (after?.bytes ?? 0) - (before?.bytes ?? 0);
    const kind = kindOf(name);
    const known = kind && this.#counts.get(kind);
    if (kind === undefined || known === undefined) return;
    this.#counts.set(kind, known + counted(after) - counted(before));
  }

  #after(name: string, limit: number): string[] {
    return this.#db
      .all<{ name: string }>(
        "select name from memory where name > ? order by name limit ?",
        name,
        limit,
      )
      .map((row) => row.name);
  }
}

/** The size of an object's data; `empty` is 1 for one whose memories were all erased. */
type Row = { bytes: number; empty: number };

function counted(row: Row | undefined): number {
  return row?.empty === 0 ? 1 : 0;
}

function kindOf(name: string): Kind | undefined {
  return KINDS.find((kind) => name.startsWith(kind));
}
