import { type WebhookHost, Webhooks } from "../webhooks/webhooks.ts";
import { Admission } from "../limits/admission.ts";
import { CostClaims } from "../limits/cost-claims.ts";
import type { ChangeClock } from "../directory/change-clock.ts";
import { Failures } from "../directory/failures.ts";
import { Directory } from "../directory/directory.ts";
import { Lists } from "../directory/lists.ts";
import { RunCounts } from "../directory/run-counts.ts";
import { RunLists } from "../directory/run-lists.ts";
import { ConnectionStore } from "../connections/connection-store.ts";
import { type ConnectionsOptions, Connections } from "../connections/connections.ts";
import { LoginAnswers, type LoginAnswersOptions } from "../connections/login-answers.ts";
import { MemoryNames } from "./memory-names.ts";
import { KeyStore } from "./key-store.ts";
import { NotifyStore } from "../notify/notify-store.ts";
import { ReceiverSender, type ReceiverSenderOptions } from "../notify/receiver-sender.ts";
import { RequestLinks, type RequestLinksOptions } from "./request-links.ts";
import { Reservations } from "../limits/reservations.ts";
import { SessionStore } from "./session-store.ts";
import { Spending } from "../limits/spending.ts";
import { StoredBytes } from "../limits/stored-bytes.ts";
import { Triggers } from "../triggers/triggers.ts";
import { type FileBucket, FileStore } from "../files/file-store.ts";
import { SkillStore } from "../skills/skill-store.ts";
import type { TenantStore } from "./tenant-store.ts";
import { TokenStore } from "./token-store.ts";
import type { ToolStore } from "../directory/tool-store.ts";
import { UsageStore } from "../usage/usage-store.ts";

/** The parts of a tenant's object while it holds a tenant. */
export interface TenantParts {
  tenant: TenantStore;
  keys: KeyStore;
  tokens: TokenStore;
  memories: MemoryNames;
  sessions: SessionStore;
  skills: SkillStore;
  files: FileStore;
  usage: UsageStore;
  directory: Directory;
  tools: ToolStore;
  reservations: Reservations;
  spending: Spending;
  costs: CostClaims;
  stored: StoredBytes;
  admission: Admission;
  lists: Lists;
  counts: RunCounts;
  runLists: RunLists;
  failures: Failures;
  webhooks: Webhooks;
  triggers: Triggers;
  notify: NotifyStore;
  connections: Connections;
}

/** Dependencies of files on their object. */
export interface FileHost {
  /** The bucket for the bytes of files; undefined if they lie in the object. */
  bucket: () => FileBucket | undefined;
}

/** Dependencies of messages to receivers on their object. */
export type NotifyHost = Pick<ReceiverSenderOptions, "sendEmail" | "emailFrom" | "telegramApi"> &
  Pick<RequestLinksOptions, "limits" | "links">;

/** Dependencies of the connections on their object. */
export type ConnectionHost = Pick<ConnectionsOptions, "sealer" | "oauth" | "publicUrl"> &
  Pick<LoginAnswersOptions, "setAlarm"> & {
    /** Answers a question of a run of the tenant. */
    answerLogin: (
      tenant: string,
      ...wait: Parameters<LoginAnswersOptions["answer"]>
    ) => ReturnType<LoginAnswersOptions["answer"]>;
  };

/** Loads the stored data. @param clock the object's clock: numbers continue to increase after a load */
export function loadParts(
  tenant: TenantStore,
  clock: ChangeClock,
  host: Omit<WebhookHost, "receivers"> & NotifyHost & ConnectionHost & FileHost,
): TenantParts {
  const { db } = host;
  const notify = new NotifyStore(db);
  const keys = new KeyStore(db);
  const tokens = new TokenStore(db);
  const usage = new UsageStore(db);
  const directory = new Directory(db, clock, usage);
  const spending = new Spending(directory, usage);
  const costs = new CostClaims(directory, spending);
  const memories = new MemoryNames(db);
  const skills = new SkillStore(db);
  const files = new FileStore(db, tenant.record.id, host.bucket);
  const stored = new StoredBytes(directory, memories, skills, files);
  const counts = new RunCounts(directory, usage);
  return {
    tenant,
    keys,
    tokens,
    memories,
    sessions: new SessionStore(db),
    skills,
    files,
    usage,
    directory,
    tools: directory.tools,
    reservations: new Reservations(db, directory),
    spending,
    costs,
    stored,
    admission: new Admission(directory, costs, stored),
    lists: new Lists(db, directory),
    counts,
    runLists: new RunLists(db, directory, counts),
    failures: new Failures(db, directory),
    webhooks: new Webhooks({
      ...host,
      receivers: {
        store: notify,
        sender: senderOf(tenant.record.id, host, { tokens, keys, directory }),
      },
    }),
    notify,
    triggers: new Triggers(db, host.sealer),
    connections: loadConnections(tenant.record.id, host),
  };
}

function senderOf(
  tenant: string,
  host: Omit<WebhookHost, "receivers"> & NotifyHost & ConnectionHost,
  stores: Pick<RequestLinksOptions, "tokens" | "keys" | "directory">,
): ReceiverSender {
  const links = new RequestLinks({ ...stores, ...host, tenant });
  return new ReceiverSender({ ...host, link: (...about) => links.of(...about) });
}

function loadConnections(
  tenant: string,
  host: Omit<WebhookHost, "receivers"> & ConnectionHost,
): Connections {
  const { db, sealer, oauth, publicUrl, answerLogin, setAlarm } = host;
  const store = new ConnectionStore(db);
  const answers = new LoginAnswers({
    store,
    answer: (wait) => answerLogin(tenant, wait),
    setAlarm,
  });
  return new Connections({ tenant, store, sealer, oauth, publicUrl, answers });
}
