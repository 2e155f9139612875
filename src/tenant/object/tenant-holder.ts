import type { Acknowledgement, Delivery } from "../../contract/directory.ts";
import type { CostAnswer, CostClaim } from "../../contract/tenant/cost-claim.ts";
import { ok, type Refused, type Result } from "../../contract/result.ts";
import { isCorrupt, NEWER_DATA, refuseUnusable } from "../../contract/stored-data.ts";
import { totalCost } from "../../contract/usage/model-usage.ts";
import { tenantLimitsFrom } from "../../contract/tenant/tenant-limits.ts";
import type { TenantLimits } from "../../contract/tenant/tenant.ts";
import { within } from "../../core/wait.ts";
import { tenantNamed } from "../../sqlite/remote-methods.ts";
import { Database } from "../../sqlite/database.ts";
import type { WebhookHost } from "../webhooks/webhooks.ts";
import { ChangeClock } from "../directory/change-clock.ts";
import { ChangeFeed } from "../directory/change-feed.ts";
import type { ResponseSockets } from "../sockets/response-sockets.ts";
import type { TenantCalls } from "./tenant-calls.ts";
import { REGISTRY } from "./registry.ts";
import { createTenantTables, holdsTenant } from "./tables.ts";
import {
  type ConnectionHost,
  type FileHost,
  loadParts,
  type NotifyHost,
  type TenantParts,
} from "./tenant-parts.ts";
import { TenantStore } from "./tenant-store.ts";

/** Dependencies of a tenant on its object and its deployment. */
export interface TenantHolderOptions extends Omit<
  WebhookHost & NotifyHost & ConnectionHost & FileHost,
  "db" | "setAlarm" | "answerLogin" | "receivers" | "limits"
> {
  ctx: DurableObjectState;
  others: TenantCalls;
  /** The sockets of clients, which end by the alarm. */
  sockets: Pick<ResponseSockets, "nextEnd" | "endDue" | "endAll" | "endTokens">;
  /** The settings of the deployment, read when its limits are first needed. */
  settings: () => Readonly<Record<string, unknown>>;
}

/** The wait of the alarm before it calls another object again. */
const RETRY_MS = 5_000;
/** A team that does not say in this time what its run costs delays no others. */
const TEAM_PATIENCE_MS = 500;
/** The alarm of data that cannot be used fires again after this time. */
const REFUSED_AGAIN_MS = 60_000;
/** The clock of the machine must have been ahead when the last change is this much later than now. */
const AHEAD_MS = 3_600_000;
/** The last entry of a team, whatever its number. */
const GONE = { kind: "deleted", idempotency: null, number: Number.MAX_SAFE_INTEGER } as const;

/**
 * Holds the tenant of an object, if it has one: loads it, creates its tables, applies entries of its teams, handles its
 * alarm, deletes it.
 */
export class TenantHolder {
  readonly db: Database;
  readonly feed = new ChangeFeed(
    (request, sight) => this.parts?.connections.store.withLogin(request, sight) ?? request,
  );
  readonly #options: TenantHolderOptions;
  readonly #clock = new ChangeClock();
  #loaded: TenantParts | undefined;
  /** Why the stored data cannot be used. */
  #refused: Refused | undefined;
  /** The limits of the deployment. */
  #defaultLimits: TenantLimits | undefined;
  /** The time this instance has set the alarm to. */
  #alarmAt: number | null = null;

  constructor(options: TenantHolderOptions) {
    this.#options = options;
    this.db = new Database(options.ctx.storage);
    this.#load();
  }

  /** Why the stored data cannot be used. */
  get refused(): Refused | undefined {
    return this.#refused;
  }

  /** Undefined while nothing is stored. @throws an error with the refusal, if what is stored cannot be used */
  get parts(): TenantParts | undefined {
    if (this.#refused) throw new Error(this.#refused.problem.detail);
    return this.#loaded;
  }

  /** The effective limits, overrides included. */
  limits(): TenantLimits {
    this.#defaultLimits ??= tenantLimitsFrom(this.#options.settings());
    return {
      ...this.#defaultLimits,
      ...this.parts?.tenant.record.limits,
    };
  }

  /** Applies entries of a team; the lists and the feed show them from then on. */
  deliver(delivery: Delivery): Acknowledgement {
    const last = delivery.entries.at(-1);
    // A deleted tenant is not created again by the last entries of its teams.
    if (this.parts === undefined && last?.kind === "deleted") {
      return { number: last.number, place: 0, resync: false };
    }
    const parts = this.hold();
    const { admission, connections, costs, directory, notify, spending, tokens } = parts;
    const { triggers, webhooks } = parts;
    let applied;
    try {
      applied = this.db.transaction(() => {
        const { applied: entries, note, ...changed } = directory.apply(delivery, Date.now());
        // An entry that changes the lists may be applied again; a webhook delivery must not be repeated.
        if (webhooks.offer(delivery.team, entries)) note();
        for (const entry of entries) {
          if (entry.kind === "request_closed") tokens.dropOfRequest(delivery.team, entry.id);
        }
        if (last?.kind === "deleted") {
          tokens.dropTeam(delivery.team);
          this.#options.sockets.endTokens(delivery.team);
          notify.drop(delivery.team);
          connections.store.endWaitsOf(delivery.team);
          triggers.removeTeam(delivery.team);
        }
        return changed;
      });
    } catch (error) {
      // The data in memory may be ahead of the storage.
      this.#load();
      throw error;
    }
    const { changes, ...acknowledgement } = applied;
    if (delivery.streams !== undefined) {
      admission.countStreams(delivery.team, delivery.streams, Date.now());
    }
    for (const change of changes) {
      if (change.kind === "team_deleted") costs.drop(delivery.team);
      if (change.kind !== "run") continue;
      const { ended_at, usage, cost } = change.row.run;
      admission.listed(delivery.team);
      costs.changed(change.row.run);
      const { later } = change;
      if (later) spending.add(later.at, later.usage, totalCost(later.models));
      else if (ended_at !== null) spending.add(ended_at, usage, cost);
    }
    if (changes.some(({ kind }) => kind === "run")) this.#askUnknown();
    this.feed.announce(changes, directory);
    if (changes.some(({ kind }) => kind === "team_deleted")) this.setAlarm(Date.now());
    return acknowledgement;
  }

  /** Decides about a model call within the budgets in money. Asks the teams whose claims are not known. */
  async claim(claim: CostClaim): Promise<Result<CostAnswer>> {
    const { costs } = this.hold();
    await this.#askCosts(costs.unknown(this.limits()).filter((team) => team !== claim.team));
    const answer = costs.claim(claim, this.limits(), Date.now());
    const inAdvance = costs.inAdvance().filter((team) => team !== claim.team);
    if (!answer.ok || answer.value.do !== "wait" || inAdvance.length === 0) return answer;
    await this.#askCosts(inAdvance);
    return costs.claim(claim, this.limits(), Date.now());
  }

  /** A budget in money was set: teams with a running run learn it, and say what it costs. */
  budgetSet(): void {
    const { costs } = this.hold();
    costs.budgetSet();
    this.#askUnknown();
  }

  #askUnknown(): void {
    const unknown = this.hold().costs.unknown(this.limits());
    if (unknown.length > 0) this.#options.ctx.waitUntil(this.#askCosts(unknown));
  }

  /** Asks teams what their runs cost. They give back what they were granted in advance. */
  async #askCosts(teams: readonly string[]): Promise<void> {
    const { tenant, costs, directory } = this.hold();
    await Promise.all(
      teams.map(async (team) => {
        const asked = this.#options.others.openCost(tenant.record.id, team);
        const open = await within(TEAM_PATIENCE_MS, asked).catch(() => undefined);
        const active = directory.open.of(team).find(({ run }) => run.status === "running");
        if (open?.ok) costs.setOpenCost(team, open.value);
        else if (active) costs.setIdle(active.run);
      }),
    );
  }

  /** Handles the object's alarm. */
  async alarm(): Promise<void> {
    const parts = this.#loaded;
    if (parts === undefined) {
      // The alarm belongs to the tenant. It continues under a version that can read the data.
      if (this.#refused) await this.#options.ctx.storage.setAlarm(Date.now() + REFUSED_AGAIN_MS);
      return;
    }
    // Set the alarm first, so that it fires again whatever fails below.
    this.#alarmAt = null;
    await this.#options.ctx.storage.setAlarm(Date.now() + RETRY_MS);
    try {
      if (!parts.tenant.record.deleting) parts.webhooks.onAlarm();
      await this.#options.others.register(parts);
      if (parts.tenant.record.deleting) {
        await this.#delete(parts);
        return;
      }
      await parts.connections.answers.give();
      parts.tokens.prune(Date.now());
      this.#options.sockets.endDue(Date.now());
      await this.#options.others.dropExpired(parts);
      this.forget(await this.#options.others.deleteOrphans(parts));
      // Last, because a bucket that does not answer must not delay the others.
      await parts.files.prune(Date.now());
      this.setAlarm(Date.now());
    } catch (error) {
      // The alarm that is set tries again; it would fail again for data that cannot be read.
      if (isCorrupt(error) && parts.tenant.record.deleting) await this.wipe();
    }
  }

  /** The parts of the tenant; the first write creates the tables. @param label the label of a new tenant */
  hold(label?: string): TenantParts {
    if (this.parts === undefined) {
      const { name } = this.#options.ctx.id;
      if (name === undefined) throw new TypeError("a tenant's object is found by its name");
      this.db.transaction(() => {
        createTenantTables(this.db);
        new TenantStore(this.db).create(name, label ?? null, Date.now());
      });
      this.#load();
      this.setAlarm(Date.now());
    }
    if (this.parts === undefined) throw new TypeError("the tenant was not stored");
    return this.parts;
  }

  /** Refuses unusable data instead of failing: the object must be there to delete the tenant, and for its alarm. */
  #load(): void {
    this.#loaded?.webhooks.close();
    this.#loaded = undefined;
    this.#refused = undefined;
    try {
      this.#loadStored();
    } catch (error) {
      this.#refused = refuseUnusable(error, tenantNamed(this.#options.ctx.id.name ?? "").object);
    }
  }

  #loadStored(): void {
    if (this.#options.ctx.id.name === REGISTRY || !holdsTenant(this.db)) return;
    createTenantTables(this.db);
    const tenant = new TenantStore(this.db);
    if (!tenant.exists) return;
    const { ctx: _, settings: __, sockets: ___, others, ...host } = this.#options;
    const parts = loadParts(tenant, this.#clock, {
      ...host,
      limits: () => this.limits(),
      answerLogin: (...wait) => others.answerLogin(...wait),
      db: this.db,
      setAlarm: () => this.setAlarm(Date.now()),
    });
    this.#loaded = parts;
    // Not in the constructor: the fields of a subclass are not initialized yet.
    queueMicrotask(() => parts.webhooks.onAlarm());
    void parts.connections.answers.give();
    this.#loadTeamsAfterFutureClock(parts);
  }

  /**
   * Loads all teams once after the clock was ahead. Their alarms are set to times that are now far away, and a team
   * that is loaded corrects its schedules.
   */
  #loadTeamsAfterFutureClock(parts: TenantParts): void {
    const { tenant, directory } = parts;
    const { lastChange } = directory;
    const ahead = (Date.now() + AHEAD_MS) * 1000;
    const woken = (tenant.record.woken_after ?? 0) + AHEAD_MS * 1000;
    if (lastChange < ahead || lastChange < woken || tenant.record.deleting) return;
    const load = async (): Promise<void> => {
      await this.#options.others.loadTeams(parts);
      tenant.save({ woken_after: lastChange });
    };
    this.#options.ctx.waitUntil(load().catch(() => undefined));
  }

  /** Sets the alarm to the earliest time at which some part has work to do. */
  setAlarm(now: number): void {
    const parts = this.parts;
    if (parts === undefined) return;
    const { registered, deleting } = parts.tenant.record;
    const isOrphaned = parts.directory.conversations.orphans(1).length > 0;
    const times = [
      parts.reservations.nextExpiry,
      parts.tokens.nextPrune,
      parts.files.nextExpiry,
      this.#options.sockets.nextEnd,
      parts.webhooks.alarmAt(),
      parts.connections.answers.alarmAt(),
      isOrphaned ? now : null,
    ];
    const at = registered && !deleting ? earliest(times) : now;
    // Setting the alarm costs a written row; an alarm that fires too early is set again.
    if (at !== null && this.#alarmAt !== null && this.#alarmAt > now && this.#alarmAt <= at) return;
    this.#alarmAt = at === null ? null : Math.max(now, at);
    if (this.#alarmAt === null) void this.#options.ctx.storage.deleteAlarm();
    else void this.#options.ctx.storage.setAlarm(this.#alarmAt);
  }

  /** Removes teams from the lists whose objects hold none, because nothing else will report their deletion. */
  forget(teams: readonly string[]): void {
    for (const team of teams) this.deliver({ team, place: null, entries: [GONE] });
  }

  /**
   * Deletes a tenant whose data cannot be read: what can be read of the names of its teams and memories takes the place of all that is
   * stored, and the alarm deletes them. Nothing is erased of a newer version.
   */
  async wipe(): Promise<Result<null>> {
    if (this.#refused?.problem.code === NEWER_DATA) return this.#refused;
    const teams = readableIds(this.db, "team", "id");
    const memories = readableIds(this.db, "memory", "name");
    this.feed.end();
    this.#loaded?.webhooks.close();
    this.#loaded = undefined;
    this.#refused = undefined;
    this.#alarmAt = null;
    // Not awaited before the rest is written, so that both are stored together: nothing else knows the teams.
    const emptied = this.#options.ctx.storage.deleteAll();
    this.db.forget();
    const parts = this.hold();
    this.db.transaction(() => {
      for (const id of teams) parts.directory.noteTeam(id);
      for (const name of memories) parts.memories.put(name, { bytes: 0, empty: true });
      parts.tenant.save({ deleting: true });
    });
    this.setAlarm(Date.now());
    await emptied;
    return ok(null);
  }

  /** Deletes some memories and teams, and the object itself when nothing is left. */
  async #delete(parts: TenantParts): Promise<void> {
    // Before the teams: what they have learned for memories that are erased is refused, so that it keeps no team.
    const erased = await this.#options.others.eraseMemories(parts);
    const { deleted, absent } = await this.#options.others.deleteTeams(parts);
    this.forget(absent);
    if (deleted || erased) {
      await this.#options.ctx.storage.setAlarm(Date.now());
      return;
    }
    await parts.files.emptyBucket();
    this.#options.sockets.endAll();
    await this.#options.others.unregister(parts.tenant.record.id);
    this.feed.end();
    parts.webhooks.close();
    this.#loaded = undefined;
    const emptied = this.#options.ctx.storage.deleteAll();
    this.db.forget();
    await emptied;
  }
}

function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** The ids in a table that may be damaged, from both of its ends as far as it can be read. */
function readableIds(db: Database, table: "team" | "memory", column: "id" | "name"): Set<string> {
  const found = new Set<string>();
  for (const [after, order] of [
    [">", "asc"],
    ["<", "desc"],
  ] as const) {
    const query = `select ${column} as id from ${table} where ${column} ${after} ? order by ${column} ${order} limit 1`;
    // Greater than each id.
    let last = order === "asc" ? "" : "\u{10FFFF}";
    try {
      for (;;) {
        const row = db.first<{ id: string }>(query, last);
        if (row === undefined) return found;
        found.add(row.id);
        last = row.id;
      }
    } catch {
      // The rest of this end cannot be read.
    }
  }
  return found;
}
