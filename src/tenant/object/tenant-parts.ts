import { type WebhookHost, Webhooks } from "../webhooks/webhooks.ts";
import { Admission } from "../limits/admission.ts";
import type { ChangeClock } from "../directory/change-clock.ts";
import { Directory } from "../directory/directory.ts";
import { Lists } from "../directory/lists.ts";
import { RunLists } from "../directory/run-lists.ts";
import { MemoryNames } from "./memory-names.ts";
import { KeyStore } from "./key-store.ts";
import { Reservations } from "../limits/reservations.ts";
import { SessionStore } from "./session-store.ts";
import { Spending } from "../limits/spending.ts";
import type { TenantStore } from "./tenant-store.ts";
import { UsageStore } from "../directory/usage-store.ts";

/** The parts of a tenant's object while it holds a tenant. */
export interface TenantParts {
  tenant: TenantStore;
  keys: KeyStore;
  memories: MemoryNames;
  sessions: SessionStore;
  usage: UsageStore;
  directory: Directory;
  reservations: Reservations;
  spending: Spending;
  admission: Admission;
  lists: Lists;
  runLists: RunLists;
  webhooks: Webhooks;
}

/** Loads the stored data. @param clock the object's clock: numbers continue to increase after a load */
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
    memories: new MemoryNames(db),
    sessions: new SessionStore(db),
    usage,
    directory,
    reservations: new Reservations(db, directory),
    spending,
    admission: new Admission(directory, spending),
    lists: new Lists(db, directory),
    runLists: new RunLists(db),
    webhooks: new Webhooks(webhooks),
  };
}
