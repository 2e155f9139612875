import type { TenantOfTeam } from "../../contract/gateways/tenant-gateway.ts";
import type { TeamAlarm } from "../storage/team-alarm.ts";
import { Database } from "../../sqlite/database.ts";
import { holdsTeam, hasTables } from "../storage/tables/schema.ts";
import { Stores } from "../storage/stores.ts";
import { Outbox, OutboxStore, type StreamReports } from "../storage/outbox/outbox.ts";
import { dropIndexes } from "../storage/tables/search-index.ts";
import { dropMemoryWords } from "../storage/team-memory.ts";

export interface ListingOptions {
  storage: DurableObjectStorage;
  /** The object's name: tenant and team. Not every alarm has it. */
  name: string | undefined;
  /** Finds a tenant; undefined without the binding TENANT. */
  find: (tenant: string) => TenantOfTeam | undefined;
}

/** Connects a team's object with the tenant that lists its team. */
export class Listing {
  readonly #options: ListingOptions;
  /** The outbox of a deleted team whose deletion is not reported yet. */
  #lastWords: Outbox | undefined;

  constructor(options: ListingOptions) {
    this.#options = options;
  }

  /** The tenant's id; undefined if it is unknown. The team's record has it when the object's name does not. */
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

  /** True while the last entries of a deleted team still have to be delivered. */
  get buried(): boolean {
    return this.#lastWords !== undefined;
  }

  newStores(): Stores {
    return new Stores(this.#options.storage, this.tenant !== undefined);
  }

  /** The outbox of a team; also reports a team that was stored before tenants listed teams. */
  open(stores: Stores, alarm: TeamAlarm, streams: StreamReports): Outbox | undefined {
    const { announcer, outbox: store, team } = stores;
    const { tenantName, tenant } = this;
    if (store === undefined || tenantName === undefined || tenant === undefined) return undefined;
    const outbox = new Outbox({
      store,
      team: team.record.id,
      tenant,
      streams,
      stored: () => stores.db.size,
      resync: () => stores.db.transaction(() => announcer.team()),
      deliveryEnded: () => alarm.set(),
    });
    alarm.serve(outbox);
    if (!store.started) {
      stores.db.transaction(() => {
        if (team.record.tenant === undefined) team.adopt(tenantName);
        announcer.everything();
      });
      alarm.set();
    }
    if (store.pending.length > 0) outbox.deliverSoon();
    return outbox;
  }

  /** Deletes everything of a team except entries that its tenant has not received. */
  async bury(stores: Stores, alarm: TeamAlarm): Promise<void> {
    const { tenant, id: team } = stores.team.record;
    if (stores.outbox === undefined || tenant === undefined) {
      // This also deletes the alarm.
      await this.#options.storage.deleteAll();
      return;
    }
    stores.db.transaction(() => {
      stores.announcer.deleted();
      leaveTombstone(stores.db, { tenant, team });
    });
    this.restore(alarm);
  }

  /** Continues to deliver the last entries of a deleted team, if there are any. */
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
      deliveryEnded: () => alarm.set(),
    });
    alarm.serve(this.#lastWords);
    alarm.set();
  }

  /** True if a new team may be created here: only once the tenant knows that the previous team was deleted. */
  async isFree(): Promise<boolean> {
    const outbox = this.#lastWords;
    if (outbox === undefined) return true;
    if (!(await outbox.deliver())) return false;
    this.#lastWords = undefined;
    // This also deletes the alarm.
    await this.#options.storage.deleteAll();
    return true;
  }
}

/** The names of a deleted team whose deletion is not reported yet. */
interface Tombstone {
  tenant: string;
  team: string;
}

/** The tombstone in this object, if there is one. Writes nothing. */
function findTombstone(db: Database): Tombstone | undefined {
  if (!hasTables(db)) return undefined;
  const row = db.first<{ value: string }>("select value from meta where name = 'tombstone'");
  return row && (JSON.parse(row.value) as Tombstone);
}

/** Deletes all rows except the outbox's; must be called inside the transaction that writes its last entry. */
function leaveTombstone(db: Database, tombstone: Tombstone): void {
  dropIndexes(db, new Set());
  dropMemoryWords(db);
  // The tables are not dropped, because a table that is being read cannot be.
  for (const { name } of db.all<{ name: string }>(
    `select name from sqlite_master where type = 'table' and name not in ('meta', 'outbox')
       and substr(name, 1, 4) <> '_cf_' and substr(name, 1, 7) <> 'sqlite_'`,
  )) {
    db.write(`delete from "${name}"`);
  }
  db.write("delete from meta where name <> 'schema'");
  db.write("insert into meta values ('tombstone', ?)", JSON.stringify(tombstone));
}
