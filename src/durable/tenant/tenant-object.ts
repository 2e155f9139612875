import type {
  Acknowledgement,
  ConversationRunList,
  ConversationRunQuery,
  Delivery,
  RequestList,
  RequestQuery,
  RunList,
  RunQuery,
  TeamList,
  TeamQuery,
} from "../../contract/directory.ts";
import type { KeyInfo, KeyPage } from "../../contract/key.ts";
import { ok, refuse, type Refused, type Result } from "../../contract/result.ts";
import { tenantLimitsFrom } from "../../contract/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant.ts";
import type { PutTenant, TenantInfo, TenantList } from "../../contract/tenant.ts";
import type {
  AdmissionRequest,
  Admitted,
  CreateKeyInput,
  Reservation,
} from "../../contract/gateways/tenant-gateway.ts";
import { NewerDataError, refuseStored } from "../../contract/stored-data.ts";
import type { UsageQuery, UsageReport } from "../../contract/usage/usage-report.ts";
import { Sealer } from "../../secrets/sealer.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import { Database } from "../storage/database.ts";
import type { PushBody, RunChange } from "../../contract/webhooks/run-change.ts";
import { DeliveryTelemetry } from "../telemetry/delivery-telemetry.ts";
import type { SendResult } from "../webhooks/dispatcher.ts";
import type { SignedRequest } from "../webhooks/signing.ts";
import { WebhookObject, type WebhookSource } from "../webhooks/webhook-object.ts";
import { makePlace } from "../stream/stream-places.ts";
import { ChangeClock } from "./directory/change-clock.ts";
import { ChangeFeed } from "./directory/change-feed.ts";
import { invalidCursor } from "./directory/cursor.ts";
import { OtherObjects, type OtherObjectsEnv } from "./other-objects.ts";
import { Registry, REGISTRY } from "./registry.ts";
import { createTenantTables, holdsTenant } from "./tables.ts";
import { loadParts, type TenantParts } from "./tenant-parts.ts";
import { TenantStore } from "./tenant-store.ts";
import { usageReport } from "./usage-store.ts";

/** Dependencies of a tenant's object on its Worker. */
export interface TenantEnv extends OtherObjectsEnv {
  /** Encrypts the secrets of webhooks. */
  SECRETS_KEY?: string;
}

/** How long the alarm waits before it calls another object again. */
const RETRY_MS = 5_000;
/** The alarm of data that cannot be used rings again after this time. */
const REFUSED_AGAIN_MS = 60_000;
/** The clock of the machine was ahead when the last change is this much later than now. */
const AHEAD_MS = 3_600_000;
/** The name under which the streams of the directory itself are counted; no team's id contains an @. */
const FEED = "@feed";

/** The last entry of a team, whatever its number. */
const GONE = { kind: "deleted", idempotency: null, number: Number.MAX_SAFE_INTEGER } as const;

/**
 * A tenant as a Durable Object: its keys, its limits, its webhooks and the directory of its teams. Under the name
 * `@registry` it is the list of tenants instead.
 *
 * Its methods are the remote side of TenantGateway and TenantOfTeam.
 */
export abstract class TroupeTenant<Env extends TenantEnv = TenantEnv> extends WebhookObject<Env> {
  readonly #db: Database;
  readonly #clock = new ChangeClock();
  readonly #feed = new ChangeFeed();
  readonly #sealer: Sealer;
  readonly #others: OtherObjects;
  readonly #telemetry: DeliveryTelemetry;
  protected readonly webhookSource: WebhookSource;
  #loaded: TenantParts | undefined;
  /** What is stored cannot be used. */
  #refusal: NewerDataError | undefined;
  /** Those of the deployment. */
  #defaultLimits: TenantLimits | undefined;
  /** When the alarm fires, as far as this instance has set it. */
  #alarmAt: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#db = new Database(ctx.storage);
    this.#sealer = new Sealer(env.SECRETS_KEY);
    this.#others = new OtherObjects(env);
    this.#telemetry = new DeliveryTelemetry(() => this.telemetry(), ctx.id.name ?? null);
    this.webhookSource = {
      stored: () => this.#parts?.webhooks,
      hold: () => this.#hold().webhooks,
      sealer: this.#sealer,
    };
    this.#load();
  }

  /** Sends a delivery of a webhook once, to allowed hosts only. Never rejects. */
  protected abstract sendWebhook(request: SignedRequest): Promise<SendResult>;

  /** What is sent of a change of a run in the format of a protocol. The default has none. */
  protected pushBody(format: string, _change: RunChange): Promise<PushBody> {
    return Promise.reject(new TypeError(`this object has no format ${format}`));
  }

  /** What the deployment records of deliveries; undefined when nothing. */
  protected telemetry(): Telemetry | undefined {
    return undefined;
  }

  /** The settings of the deployment. */
  protected settings(): Readonly<Record<string, unknown>> {
    return this.env as object as Readonly<Record<string, unknown>>;
  }

  /** Rows this instance has written so far. */
  get rowsWritten(): number {
    return this.#db.rowsWritten;
  }

  /** Undefined while nothing is stored. @throws NewerDataError */
  get #parts(): TenantParts | undefined {
    if (this.#refusal) throw this.#refusal;
    return this.#loaded;
  }

  info(): Result<TenantInfo> {
    const parts = this.#parts;
    if (parts === undefined || parts.tenant.record.deleting) return tenantNotFound();
    const { id, label, created_at } = parts.tenant.record;
    const { size: teams, open } = parts.directory;
    return ok({ id, label, limits: this.limits(), teams, active_runs: open.active, created_at });
  }

  put({ label, limits }: PutTenant): Result<TenantInfo> {
    const { tenant } = this.#hold();
    const { record } = tenant;
    if (record.deleting) return beingDeleted();
    const renamed = label !== undefined && label !== record.label;
    tenant.save({
      ...(renamed && { label, registered: false }),
      limits: { ...record.limits, ...limits },
    });
    this.#arm(Date.now());
    return this.info();
  }

  limits(): TenantLimits {
    this.#defaultLimits ??= tenantLimitsFrom(this.settings());
    return {
      ...this.#defaultLimits,
      ...this.#parts?.tenant.record.limits,
    };
  }

  /** Begins to delete everything; the alarm goes on until nothing is left. */
  destroy(): Result<null> {
    const parts = this.#parts;
    if (parts === undefined || parts.tenant.record.deleting) return tenantNotFound();
    parts.tenant.save({ deleting: true });
    this.#arm(Date.now());
    return ok(null);
  }

  createKey({ id, name, scopes, hash, expires_in }: CreateKeyInput): Result<KeyInfo> {
    const { tenant, keys } = this.#hold();
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const { keys: most } = this.limits();
    if (keys.size >= most) keys.clean(now);
    if (keys.size >= most) return tooManyKeys(most);
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

  keys(page: { limit: number; cursor?: string }): Result<KeyPage> {
    if (this.#parts === undefined) return ok({ keys: [], next_cursor: null });
    const keys = this.#parts.keys.page(page);
    return keys === undefined ? invalidCursor() : ok(keys);
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

  reserve(input: Reservation): Result<{ id: string }> {
    const { tenant, reservations } = this.#hold(input.tenant_label);
    if (tenant.record.deleting) return beingDeleted();
    const now = Date.now();
    const reserved = reservations.reserve(input, this.limits().teams, now);
    this.#arm(now);
    return reserved;
  }

  admit(request: AdmissionRequest): Result<Admitted> {
    const { tenant, admission, webhooks } = this.#hold();
    if (tenant.record.deleting) return beingDeleted();
    const limits = this.limits();
    const refused = admission.admit(request, limits, Date.now());
    return refused ?? ok({ limits, messages: webhooks.wantsMessages(request.team) });
  }

  /** A team is gone although it could not tell so. Returns whether it was listed. */
  forget(team: string): boolean {
    if (this.#parts?.directory.team(team) === undefined) return false;
    this.#forget([team]);
    return true;
  }

  /** Applies what a team tells; lists and feed show it from then on. */
  deliver(delivery: Delivery): Acknowledgement {
    const last = delivery.entries.at(-1);
    // A tenant that was deleted is not created again by the last words of its teams.
    if (this.#parts === undefined && last?.kind === "deleted") {
      return { number: last.number, place: 0, resync: false };
    }
    const { admission, directory, spending, webhooks } = this.#hold();
    let applied;
    try {
      applied = this.#db.transaction(() => {
        const { applied: entries, note, ...changed } = directory.apply(delivery, Date.now());
        // An entry that changes the lists may be applied again; one that is delivered must not.
        if (webhooks.offer(delivery.team, entries)) note();
        return changed;
      });
    } catch (error) {
      // What is in memory may be ahead of what is stored.
      this.#load();
      throw error;
    }
    const { changes, ...acknowledgement } = applied;
    if (delivery.streams !== undefined) {
      admission.countStreams(delivery.team, delivery.streams, Date.now());
    }
    for (const change of changes) {
      if (change.kind !== "run") continue;
      const { ended_at, usage } = change.row.run;
      admission.listed(delivery.team);
      if (ended_at !== null) spending.add(ended_at, usage);
    }
    this.#feed.announce(changes, directory);
    if (changes.some(({ kind }) => kind === "team_deleted")) this.#arm(Date.now());
    return acknowledgement;
  }

  teams(query: TeamQuery): Result<TeamList> {
    return this.#parts?.lists.teams(query) ?? emptyPage(query, { teams: [] });
  }

  runs(query: RunQuery): Result<RunList> {
    return this.#parts?.lists.runs(query) ?? emptyPage(query, { runs: [] });
  }

  conversationRuns(query: ConversationRunQuery): Result<ConversationRunList> {
    return this.#parts?.lists.conversationRuns(query) ?? emptyPage(query, { runs: [], total: 0 });
  }

  requests(query: RequestQuery): Result<RequestList> {
    return this.#parts?.lists.requests(query) ?? emptyPage(query, { requests: [] });
  }

  usageReport(query: UsageQuery): Result<UsageReport> {
    if (this.#parts === undefined) return usageReport(query, []);
    const { usage, directory } = this.#parts;
    const inRange = ({ usage: { day } }: { usage: { day: string } }): boolean =>
      day >= query.from && day <= query.to;
    const days = [
      ...usage.between(query.from, query.to),
      ...[...directory.lastDays(Date.parse(query.from))].filter(inRange),
    ];
    return usageReport(query, days);
  }

  /** The feed uses fetch, because only then does the runtime report that a client has disconnected. */
  override async fetch(request: Request): Promise<Response> {
    const unusable = refuseStored(this.#refusal);
    if (unusable) return Response.json(unusable.problem, { status: unusable.problem.status });
    const { searchParams } = new URL(request.url);
    const credential = searchParams.get("credential") ?? "";
    const limits = this.limits();
    const refused = await makePlace(this.#feed, credential, limits.streams_per_credential, () =>
      this.#parts?.admission.admit(
        { team: FEED, streams: this.#feed.streams + 1 },
        limits,
        Date.now(),
      ),
    );
    if (refused) return Response.json(refused.problem, { status: refused.problem.status });
    const after = searchParams.get("after");
    const body = this.#feed.open(
      this.#parts?.directory,
      after === null ? null : Number(after),
      searchParams.has("runs"),
      { credential, stream: searchParams.get("stream") ?? "" },
    );
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  /** The client of a stream of the feed has left. */
  async endStream(name: string): Promise<void> {
    this.#feed.closeStream(name);
  }

  register(id: string, label: string | null): void {
    createTenantTables(this.#db);
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
    const parts = this.#loaded;
    if (parts === undefined) {
      // The alarm belongs to the tenant, which goes on with a version that can read it.
      if (this.#refusal) await this.ctx.storage.setAlarm(Date.now() + REFUSED_AGAIN_MS);
      return;
    }
    // Set first, so that the alarm rings again whatever fails below.
    this.#alarmAt = null;
    await this.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    try {
      if (!parts.tenant.record.deleting) parts.webhooks.tick();
      await this.#others.register(parts);
      if (parts.tenant.record.deleting) {
        await this.#delete(parts);
        return;
      }
      await this.#others.dropExpired(parts);
      this.#forget(await this.#others.deleteOrphans(parts));
      this.#arm(Date.now());
    } catch {
      // The alarm that is set tries again.
    }
  }

  /** The parts; the tables are created on the first write. @param label of a new tenant */
  #hold(label?: string): TenantParts {
    if (this.#parts === undefined) {
      const { name } = this.ctx.id;
      if (name === undefined) throw new TypeError("a tenant's object is found by its name");
      this.#db.transaction(() => {
        createTenantTables(this.#db);
        new TenantStore(this.#db).create(name, label ?? null, Date.now());
      });
      this.#load();
      this.#arm(Date.now());
    }
    if (this.#parts === undefined) throw new TypeError("the tenant was not stored");
    return this.#parts;
  }

  #load(): void {
    this.#loaded?.webhooks.close();
    this.#loaded = undefined;
    if (this.ctx.id.name === REGISTRY || !holdsTenant(this.#db)) return;
    try {
      createTenantTables(this.#db);
    } catch (error) {
      if (!(error instanceof NewerDataError)) throw error;
      this.#refusal = error;
      return;
    }
    const tenant = new TenantStore(this.#db);
    if (!tenant.exists) return;
    const parts = loadParts(tenant, this.#clock, {
      db: this.#db,
      sealer: this.#sealer,
      send: (request) => this.sendWebhook(request),
      writePush: (...change) => this.pushBody(...change),
      telemetry: this.#telemetry,
      arm: () => this.#arm(Date.now()),
    });
    this.#loaded = parts;
    // Not in the constructor: the fields of a subclass are not initialized yet.
    queueMicrotask(() => parts.webhooks.tick());
    this.#wakeAfterFutureClock(parts);
  }

  /**
   * Loads the teams once after the clock was ahead: their alarms are set to times that are far away now, and a team that is
   * loaded corrects its schedules.
   */
  #wakeAfterFutureClock(parts: TenantParts): void {
    const { tenant, directory } = parts;
    const { lastChange } = directory;
    const ahead = (Date.now() + AHEAD_MS) * 1000;
    const woken = (tenant.record.woken_after ?? 0) + AHEAD_MS * 1000;
    if (lastChange < ahead || lastChange < woken || tenant.record.deleting) return;
    const wake = async (): Promise<void> => {
      await this.#others.wakeTeams(parts);
      tenant.save({ woken_after: lastChange });
    };
    this.ctx.waitUntil(wake().catch(() => undefined));
  }

  /** Sets the alarm to when something has to happen by itself. */
  #arm(now: number): void {
    const parts = this.#parts;
    if (parts === undefined) return;
    const { registered, deleting } = parts.tenant.record;
    const isOrphaned = parts.directory.conversations.orphans(1).length > 0;
    const times = [
      parts.reservations.nextExpiry,
      parts.webhooks.alarmAt(),
      isOrphaned ? now : null,
    ];
    const at = registered && !deleting ? earliest(times) : now;
    // Each time it is set costs a written row; one that fires too early is set again.
    if (at !== null && this.#alarmAt !== null && this.#alarmAt > now && this.#alarmAt <= at) return;
    this.#alarmAt = at === null ? null : Math.max(now, at);
    if (this.#alarmAt === null) void this.ctx.storage.deleteAlarm();
    else void this.ctx.storage.setAlarm(this.#alarmAt);
  }

  /** Removes teams from the lists whose objects hold none: nothing will tell of them any more. */
  #forget(teams: readonly string[]): void {
    for (const team of teams) this.deliver({ team, place: null, entries: [GONE] });
  }

  /** Deletes some teams; the object itself when none is left. */
  async #delete(parts: TenantParts): Promise<void> {
    const { deleted, absent } = await this.#others.deleteTeams(parts);
    this.#forget(absent);
    if (deleted) {
      await this.ctx.storage.setAlarm(Date.now());
      return;
    }
    await this.#others.unregister(parts.tenant.record.id);
    this.#feed.end();
    parts.webhooks.close();
    this.#loaded = undefined;
    await this.ctx.storage.deleteAll();
  }
}

/** The page of a tenant without stored data: no cursor can come from there. */
function emptyPage<T extends object>(
  { cursor }: { cursor?: string },
  items: T,
): Result<T & { next_cursor: null }> {
  return cursor === undefined ? ok({ ...items, next_cursor: null }) : invalidCursor();
}

function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function tenantNotFound(): Refused {
  return refuse(404, "tenant_not_found", "There is no such tenant.");
}

function beingDeleted(): Refused {
  return refuse(409, "tenant_being_deleted", "The tenant is being deleted.");
}

function tooManyKeys(value: number): Refused {
  const detail = `The tenant has ${value} keys, its limit. Revoke those that are not used.`;
  return refuse(429, "too_many_keys", detail, { limit: "keys", value });
}
