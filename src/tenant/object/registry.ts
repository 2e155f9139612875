import type { TenantList } from "../../contract/tenant/tenant.ts";
import type { Result } from "../../contract/result.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";

/** Name of the object that lists all tenants; no tenant's id contains an @. */
export const REGISTRY = "@registry";

/** The methods of the registry, which is an object of the same class as a tenant's. */
export interface RegistryMethods {
  register(id: string, label: string | null): Promise<void>;
  unregister(id: string): Promise<void>;
  tenants(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
  /** Records the hash that stands for a tenant in e-mail addresses. */
  noteHash(hash: string, tenant: string): Promise<void>;
  /** Null for a hash that stands for no tenant. */
  tenantOfHash(hash: string): Promise<string | null>;
}

/** The list of all tenants, for the operator. */
export class Registry {
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
  }

  put(id: string, label: string | null): void {
    this.#db.write(
      "insert into tenant values (?, ?) on conflict (id) do update set label = excluded.label",
      id,
      label,
    );
  }

  remove(id: string): void {
    this.#db.write("delete from tenant where id = ?", id);
    this.#db.write("delete from inbound_tenant where id = ?", id);
  }

  noteHash(hash: string, id: string): void {
    if (this.ofHash(hash) !== id) {
      this.#db.write("insert or replace into inbound_tenant values (?, ?)", hash, id);
    }
  }

  ofHash(hash: string): string | undefined {
    const query = "select id from inbound_tenant where hash = ?";
    return this.#db.first<{ id: string }>(query, hash)?.id;
  }

  page({ limit, cursor }: { limit: number; cursor?: string }): Result<TenantList> {
    const position = cursor === undefined ? [""] : fromCursor(cursor, ["string"]);
    if (position === undefined) return invalidCursor();
    const found = this.#db.all<{ id: string; label: string | null }>(
      "select id, label from tenant where id > ? order by id limit ?",
      position[0] ?? "",
      limit + 1,
    );
    const tenants = found.slice(0, limit);
    const last = tenants.at(-1);
    return {
      ok: true,
      value: { tenants, next_cursor: found.length > limit && last ? toCursor(last.id) : null },
    };
  }
}
