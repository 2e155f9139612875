import { DurableObject } from "cloudflare:workers";
import type { KeyInfo } from "../../contract/key.ts";
import { ok, refuse, type Refused, type Result } from "../../contract/result.ts";
import {
  type PutTenant,
  type TenantInfo,
  type TenantLimits,
  tenantLimitsFrom,
  type TenantList,
} from "../../contract/tenant.ts";
import type { CreateKeyInput } from "../../contract/tenant-gateway.ts";
import { Database } from "../storage/database.ts";
import { KeyStore } from "./key-store.ts";
import { Registry, REGISTRY } from "./registry.ts";
import { createTenantTables, holdsTenant } from "./tables.ts";
import { TenantStore } from "./tenant-store.ts";

type Settings = Parameters<typeof tenantLimitsFrom>[0];

/** Dependencies of a tenant's object on its Worker. */
export interface TenantEnv {
  TENANT?: DurableObjectNamespace;
}

interface RegistryStub {
  register(id: string, label: string | null): Promise<void>;
}

/** How long the alarm waits before it calls the registry again. */
const RETRY_MS = 5_000;

/** The object's parts while it holds a tenant. */
interface Parts {
  tenant: TenantStore;
  keys: KeyStore;
}

/**
 * A tenant as a Durable Object: its keys and its limits. Under the name `@registry` it is the list of tenants instead.
 *
 * Its methods are the remote side of TenantGateway.
 */
export class TroupeTenant<Env extends TenantEnv = TenantEnv> extends DurableObject<Env> {
  readonly #db: Database;
  #parts: Parts | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Database(ctx.storage);
    this.#load();
  }

  /** Rows this instance has written so far. */
  get rowsWritten(): number {
    return this.#db.rowsWritten;
  }

  info(): Result<TenantInfo> {
    const parts = this.#parts;
    if (parts === undefined) return tenantNotFound();
    const { id, label, created_at } = parts.tenant.record;
    return ok({ id, label, limits: this.limits(), created_at });
  }

  put({ label, limits }: PutTenant): Result<TenantInfo> {
    const { tenant } = this.#hold();
    const { record } = tenant;
    const renamed = label !== undefined && label !== record.label;
    tenant.save({
      ...(renamed && { label, registered: false }),
      limits: { ...record.limits, ...limits },
    });
    if (renamed) this.#wakeNow();
    return this.info();
  }

  limits(): TenantLimits {
    return {
      ...tenantLimitsFrom(this.env as object as Settings),
      ...this.#parts?.tenant.record.limits,
    };
  }

  createKey({ id, name, scopes, hash, expires_in }: CreateKeyInput): Result<KeyInfo> {
    const now = Date.now();
    const created = this.#hold().keys.create(id, {
      name,
      scopes: [...scopes],
      hash,
      created_at: new Date(now).toISOString(),
      expires_at: expires_in === null ? null : new Date(now + expires_in * 1000).toISOString(),
      last_used: null,
    });
    return ok(created);
  }

  keys(): KeyInfo[] {
    return this.#parts?.keys.list() ?? [];
  }

  revokeKey(id: string): Result<null> {
    if (this.#parts?.keys.revoke(id)) return ok(null);
    return refuse(404, "key_not_found", "There is no such key.");
  }

  verifyKey(id: string, hash: string): KeyInfo | null {
    return this.#parts?.keys.verify(id, hash, Date.now()) ?? null;
  }

  register(id: string, label: string | null): void {
    this.#db.transaction(() => {
      createTenantTables(this.#db);
      new Registry(this.#db).put(id, label);
    });
  }

  tenants(page: { limit: number; cursor?: string }): Result<TenantList> {
    if (!holdsTenant(this.#db)) return ok({ tenants: [], next_cursor: null });
    return new Registry(this.#db).page(page);
  }

  /** Tells the registry of this tenant, until it has been told. */
  override async alarm(): Promise<void> {
    const tenant = this.#parts?.tenant;
    if (tenant === undefined || tenant.record.registered) return;
    // Set first, so that the alarm fires again if the registry cannot be reached.
    await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    try {
      const { id, label } = tenant.record;
      const { TENANT } = this.env;
      if (TENANT === undefined) throw new TypeError("the binding TENANT is missing");
      await (TENANT.get(TENANT.idFromName(REGISTRY)) as unknown as RegistryStub).register(
        id,
        label,
      );
      if (tenant.record.label !== label) return;
      tenant.save({ registered: true });
      await this.ctx.storage.deleteAlarm();
    } catch {
      // The alarm that is set tries again.
    }
  }

  /** The parts; the tables are created on the first write. */
  #hold(): Parts {
    if (this.#parts === undefined) {
      const { name } = this.ctx.id;
      if (name === undefined) throw new TypeError("a tenant's object is found by its name");
      this.#db.transaction(() => {
        createTenantTables(this.#db);
        new TenantStore(this.#db).create(name, Date.now());
      });
      this.#load();
      this.#wakeNow();
    }
    if (this.#parts === undefined) throw new TypeError("the tenant was not stored");
    return this.#parts;
  }

  #load(): void {
    if (this.ctx.id.name === REGISTRY || !holdsTenant(this.#db)) return;
    this.#parts = { tenant: new TenantStore(this.#db), keys: new KeyStore(this.#db) };
  }

  #wakeNow(): void {
    void this.ctx.storage.setAlarm(Date.now());
  }
}

function tenantNotFound(): Refused {
  return refuse(404, "tenant_not_found", "There is no such tenant.");
}
