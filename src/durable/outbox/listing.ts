import type { OutboxChange } from "../../contract/directory.ts";
import type { TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import type { TeamAlarm } from "../object/team-alarm.ts";
import { Database } from "../storage/database.ts";
import { holdsTeam } from "../storage/schema.ts";
import { Stores } from "../storage/stores.ts";
import { Outbox, type StreamReports } from "./outbox.ts";
import { OutboxStore } from "./outbox-store.ts";
import { findTombstone, leaveTombstone } from "./tombstone.ts";

export interface ListingOptions {
  storage: DurableObjectStorage;
  /** The object's name: tenant and team. Not every alarm tells it. */
  name: string | undefined;
  /** Finds a tenant; undefined without the binding TENANT. */
  find: (tenant: string) => TenantOfTeam | undefined;
}

/** Whether clients look for it in the lists: a run that waits or has ended, a question. Others show that a run goes on. */
function isUrgent(change: OutboxChange): boolean {
  if (change.kind !== "run") return change.kind !== "message";
  return change.run.status !== "running" && change.run.status !== "queued";
}

/** What connects a team's object with the tenant that lists its team. */
export class Listing {
  readonly #options: ListingOptions;
  /** The outbox of a deleted team whose tenant does not know yet. */
  #lastWords: Outbox | undefined;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  /** The tenant's id; undefined when it is not known. The team's record tells what the object's name does not. */
  get tenantName(): string | undefined {
    const [tenant, ...id] = this.#options.name?.split("/") ?? [];
    if (id.length > 0) return tenant;
    const stores = new Stores(this.#options.storage, false);
    return holdsTeam(stores.db) ? stores.team.record.tenant : undefined;
  }

  get tenant(): TenantOfTeam | undefined {
    const { tenantName } = this;
    return tenantName === undefined ? undefined : this.#options.find(tenantName);
  }

  /** Whether the last entries of a deleted team are still to be delivered. */
  get buried(): boolean {
    return this.#lastWords !== undefined;
  }

  newStores(): Stores {
    return new Stores(this.#options.storage, this.tenant !== undefined);
  }

  /** The outbox of a team; tells the tenant of one that was stored before tenants listed teams. */
  open(stores: Stores, alarm: TeamAlarm, streams: StreamReports): Outbox | undefined {
    const { announcer, outbox: store, team } = stores;
    const { tenantName, tenant } = this;
    if (store === undefined || tenantName === undefined || tenant === undefined) return undefined;
    const outbox = new Outbox({
      store,
      team: team.record.id,
      tenant,
      streams,
      resync: () => stores.transaction(() => announcer.team()),
      settled: () => alarm.arm(),
    });
    alarm.serve(outbox);
    announcer.onEntry = (change) => outbox.deliverSoon(isUrgent(change));
    if (!store.begun) {
      stores.transaction(() => {
        if (team.record.tenant === undefined) team.adopt(tenantName);
        announcer.everything();
      });
      alarm.arm();
    }
    if (store.pending.length > 0) outbox.deliverSoon();
    return outbox;
  }

  /** Deletes everything of a team but what its tenant has to be told. */
  async bury(stores: Stores, alarm: TeamAlarm): Promise<void> {
    const { tenant, id: team } = stores.team.record;
    if (stores.outbox === undefined || tenant === undefined) {
      // Deletes the alarm, too.
      await this.#options.storage.deleteAll();
      return;
    }
    stores.transaction(() => {
      stores.announcer.deleted();
      leaveTombstone(stores.db, { tenant, team });
    });
    this.restore(alarm);
  }

  /** Takes up the last entries of a deleted team, if there are any. */
  restore(alarm: TeamAlarm): void {
    const db = new Database(this.#options.storage);
    const tombstone = findTombstone(db);
    const tenant = tombstone && this.#options.find(tombstone.tenant);
    if (tombstone === undefined || tenant === undefined) return;
    this.#lastWords = new Outbox({
      store: new OutboxStore(db),
      team: tombstone.team,
      tenant,
      resync: () => undefined,
      settled: () => alarm.arm(),
    });
    alarm.serve(this.#lastWords);
    alarm.arm();
  }

  /** Whether a new team may be created here: once the tenant knows that the one before was deleted. */
  async isFree(): Promise<boolean> {
    const outbox = this.#lastWords;
    if (outbox === undefined) return true;
    if (!(await outbox.deliver())) return false;
    this.#lastWords = undefined;
    // Deletes the alarm, too.
    await this.#options.storage.deleteAll();
    return true;
  }
}
