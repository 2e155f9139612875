import { type WebhookHost, Webhooks } from "../webhooks/webhooks.ts";
import { Admission } from "./admission.ts";
import type { ChangeClock } from "./directory/change-clock.ts";
import { Directory } from "./directory/directory.ts";
import { Lists } from "./directory/lists.ts";
import { KeyStore } from "./key-store.ts";
import { Reservations } from "./reservations.ts";
import { Spending } from "./spending.ts";
import type { TenantStore } from "./tenant-store.ts";
import { UsageStore } from "./usage-store.ts";

/** The parts of a tenant's object while it holds a tenant. */
export interface TenantParts {
  tenant: TenantStore;
  keys: KeyStore;
  usage: UsageStore;
  directory: Directory;
  reservations: Reservations;
  spending: Spending;
  admission: Admission;
  lists: Lists;
  webhooks: Webhooks;
}

/** Loads what is stored. @param clock of the object: numbers go on after a load */
export function loadParts(
  tenant: TenantStore,
  clock: ChangeClock,
  webhooks: WebhookHost,
): TenantParts {
  const { db } = webhooks;
  const usage = new UsageStore(db);
  const directory = new Directory(db, clock, usage);
  const spending = new Spending(directory, usage);
  return {
    tenant,
    keys: new KeyStore(db),
    usage,
    directory,
    reservations: new Reservations(db, directory),
    spending,
    admission: new Admission(directory, spending),
    lists: new Lists(db, directory),
    webhooks: new Webhooks(webhooks),
  };
}
