import { DurableObject } from "cloudflare:workers";
import type {
  Acknowledgement,
  Delivery,
  RequestList,
  RequestQuery,
  RunList,
  RunQuery,
  TeamList,
  TeamQuery,
} from "../../contract/directory.ts";
import type { Idempotency } from "../../contract/gateway.ts";
import { ok, refuse, type Refused, type Result } from "../../contract/result.ts";
import type { KeyInfo } from "../../contract/key.ts";
import {
  type PutTenant,
  type TenantInfo,
  type TenantLimits,
  tenantLimitsFrom,
  type TenantList,
} from "../../contract/tenant.ts";
import type { CreateKeyInput } from "../../contract/tenant-gateway.ts";
import { Database } from "../storage/database.ts";
import { ChangeClock } from "./change-clock.ts";
import { ChangeFeed } from "./change-feed.ts";
import { Directory } from "./directory.ts";
import { KeyStore } from "./key-store.ts";
import { Lists } from "./lists.ts";
import { Registry, REGISTRY } from "./registry.ts";
import { Reservations } from "./reservations.ts";
import { createTenantTables, holdsTenant } from "./tables.ts";
import { TenantStore } from "./tenant-store.ts";

/** What a tenant's object needs of its Worker. */
export interface TenantEnv {
  TEAM: DurableObjectNamespace;
  TENANT: DurableObjectNamespace;
}

/** How a team object looks to its tenant. */
interface TeamStub {
  team(): Promise<Result<unknown>>;
  destroy(): Promise<Result<null>>;
}

/** Something outside could not be reached: tried again after so long. */
const RETRY_MS = 5_000;
/** Teams erased per alarm. */
const ERASED_AT_ONCE = 20;

/** What there is while the object holds a tenant. */
interface Parts {
  tenant: TenantStore;
  keys: KeyStore;
  directory: Directory;
  reservations: Reservations;
  lists: Lists;
}

/**
 * A tenant as a Durable Object: its keys, its limits and the directory of its teams. Under the name `@registry` it knows which
 * tenants there are instead.
 *
 * Its methods are the remote side of TenantGateway and DirectoryInbox.
 */
export class TroupeTenant<Env extends Partial<TenantEnv> = TenantEnv> extends DurableObject<Env> {
  readonly #db: Database;
  readonly #clock = new ChangeClock();
  readonly #feed: ChangeFeed;
  #parts: Parts | undefined;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Database(ctx.storage);
    this.#feed = new ChangeFeed(this.#db);
    this.#load();
  }

  /** Rows this instance has written so far. */
  get rowsWritten(): number {
    return this.#db.rowsWritten;
  }

  info(): Result<TenantInfo> {
    const parts = this.#parts;
    if (parts === undefined || parts.tenant.record.deleting) return tenantNotFound();
    const { id, label, created_at } = parts.tenant.record;
    return ok({
      id,
      label,
      limits: this.limits(),
      teams: parts.directory.size,
      active_runs: parts.directory.open.active,
      created_at,
    });
  }

  put({ label, limits }: PutTenant): Result<TenantInfo> {
    const { tenant } = this.#hold();
    if (tenant.record.deleting) return beingDeleted();
    tenant.save({
      ...(label !== undefined && {
        label,
        registered: tenant.record.label === label && tenant.record.registered,
      }),
      limits: { ...tenant.record.limits, ...limits },
    });
    this.#arm(Date.now());
    return this.info();
  }

  limits(): TenantLimits {
    return {
      ...tenantLimitsFrom({ ...this.env }),
      ...this.#parts?.tenant.record.limits,
    };
  }

  async destroy(): Promise<Result<null>> {
    const parts = this.#parts;
    if (parts === undefined) return tenantNotFound();
    parts.tenant.save({ deleting: true });
    this.#arm(Date.now());
    return ok(null);
  }

  createKey({ id, name, scopes, hash, expires_in }: CreateKeyInput): Result<KeyInfo> {
    const { tenant, keys } = this.#hold();
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const created = keys.create(id, {
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
    const parts = this.#parts;
    if (parts === undefined || parts.tenant.record.deleting) return null;
    return parts.keys.verify(id, hash, Date.now()) ?? null;
  }

  reserve(input: { id: string; idempotency?: Idempotency }): Result<{ id: string }> {
    const { tenant, reservations } = this.#hold();
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const reserved = reservations.reserve(input, this.limits().teams, now);
    this.#arm(now);
    return reserved;
  }

  /** Applies what a team has to say; the feed and lists show it from then on. */
  deliver(delivery: Delivery): Acknowledgement {
    const { directory } = this.#hold();
    let applied;
    try {
      applied = this.#db.transaction(() => directory.apply(delivery, Date.now()));
    } catch (error) {
      // What is in memory may be ahead of what is stored.
      this.#load();
      throw error;
    }
    const { changes, ...acknowledgement } = applied;
    this.#feed.announce(changes, directory);
    return acknowledgement;
  }

  teams(query: TeamQuery): Result<TeamList> {
    return this.#parts?.lists.teams(query) ?? ok({ teams: [], next_cursor: null });
  }

  runs(query: RunQuery): Result<RunList> {
    return this.#parts?.lists.runs(query) ?? ok({ runs: [], next_cursor: null });
  }

  requests(query: RequestQuery): Result<RequestList> {
    return this.#parts?.lists.requests(query) ?? ok({ requests: [], next_cursor: null });
  }

  /** The feed goes over fetch, because the runtime then notices when the client leaves. */
  override async fetch(request: Request): Promise<Response> {
    const after = new URL(request.url).searchParams.get("after");
    const { directory } = this.#parts ?? { directory: undefined };
    const body =
      directory === undefined
        ? this.#feed.open(new Directory(this.#db, this.#clock), null)
        : this.#feed.open(directory, after === null ? null : Number(after));
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  register(id: string, label: string | null): void {
    this.#createTables();
    new Registry(this.#db).put(id, label);
  }

  unregister(id: string): void {
    if (holdsTenant(this.#db)) new Registry(this.#db).remove(id);
  }

  tenants(page: { limit: number; cursor?: string }): Result<TenantList> {
    if (!holdsTenant(this.#db)) return ok({ tenants: [], next_cursor: null });
    return new Registry(this.#db).page(page);
  }

  override async alarm(): Promise<void> {
    const parts = this.#parts;
    if (parts === undefined) return;
    // Set first, so that whatever goes wrong below, it rings again.
    await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    try {
      if (parts.tenant.record.deleting) {
        await this.#erase(parts);
        return;
      }
      await this.#registerOnce(parts);
      await this.#dropExpired(parts);
      this.#arm(Date.now());
    } catch {
      // The alarm that is set tries again.
    }
  }

  /** The parts, made with the tables on the first thing that is stored. */
  #hold(): Parts {
    if (this.#parts === undefined) {
      const { name } = this.ctx.id;
      if (name === undefined) throw new TypeError("a tenant's object is found by its name");
      this.#db.transaction(() => {
        this.#createTables();
        new TenantStore(this.#db).create(name, Date.now());
      });
      this.#load();
      this.#arm(Date.now());
    }
    if (this.#parts === undefined) throw new TypeError("the tenant was not stored");
    return this.#parts;
  }

  #createTables(): void {
    createTenantTables(this.#db);
  }

  #load(): void {
    this.#parts = undefined;
    if (this.ctx.id.name === REGISTRY || !holdsTenant(this.#db)) return;
    const directory = new Directory(this.#db, this.#clock);
    this.#parts = {
      tenant: new TenantStore(this.#db),
      keys: new KeyStore(this.#db),
      directory,
      reservations: new Reservations(this.#db, directory),
      lists: new Lists(this.#db, directory),
    };
  }

  /** Sets the alarm to when something has to happen by itself. */
  #arm(now: number): void {
    const parts = this.#parts;
    if (parts === undefined) return;
    const { registered, deleting } = parts.tenant.record;
    const at = registered && !deleting ? parts.reservations.nextExpiry : now;
    if (at === null) void this.ctx.storage.deleteAlarm();
    else void this.ctx.storage.setAlarm(Math.max(now, at));
  }

  async #registerOnce({ tenant }: Parts): Promise<void> {
    const { id, label, registered } = tenant.record;
    if (registered) return;
    await this.#registry().register(id, label);
    tenant.save({ registered: tenant.record.label === label });
  }

  /** A team that was made after all has entries on their way: it is kept until they arrive. */
  async #dropExpired({ tenant, reservations }: Parts): Promise<void> {
    for (const id of reservations.expired(Date.now())) {
      const found = await this.#team(tenant.record.id, id).team();
      if (!found.ok) reservations.drop(id);
    }
  }

  /** Erases some teams, and the rest when none is left. */
  async #erase({ tenant, lists }: Parts): Promise<void> {
    const page = lists.teams({ metadata: {}, order: "oldest", limit: ERASED_AT_ONCE });
    const teams = page.ok ? page.value.teams : [];
    await Promise.all(teams.map(({ id }) => this.#team(tenant.record.id, id).destroy()));
    if (teams.length > 0) {
      await this.ctx.storage.setAlarm(Date.now());
      return;
    }
    await this.#registry().unregister(tenant.record.id);
    this.#feed.end();
    this.#parts = undefined;
    await this.ctx.storage.deleteAll();
  }

  #team(tenant: string, id: string): TeamStub {
    const { TEAM } = this.#namespaces();
    return TEAM.get(TEAM.idFromName(`${tenant}/${id}`)) as unknown as TeamStub;
  }

  #registry(): {
    register(id: string, label: string | null): Promise<void>;
    unregister(id: string): Promise<void>;
  } {
    const { TENANT } = this.#namespaces();
    return TENANT.get(TENANT.idFromName(REGISTRY)) as never;
  }

  #namespaces(): TenantEnv {
    const { TEAM, TENANT } = this.env;
    if (TEAM === undefined || TENANT === undefined) {
      throw new TypeError("the bindings TEAM and TENANT are missing");
    }
    return { TEAM, TENANT };
  }
}

function tenantNotFound(): Refused {
  return refuse(404, "tenant_not_found", "There is no such tenant.");
}

function beingDeleted(): Refused {
  return refuse(409, "tenant_being_deleted", "The tenant is being deleted.");
}
