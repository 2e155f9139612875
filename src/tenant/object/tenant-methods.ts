import type {
  TenantGateway,
  TenantOfMemories,
  TenantOfTeam,
} from "../../contract/gateways/tenant-gateway.ts";
import type { CredentialSockets } from "../../team/stream/credential-watch.ts";
import type { Erasure } from "../../sqlite/erase.ts";
import type { Handlers } from "../../sqlite/remote-methods.ts";
import type { WebhookSource } from "../webhooks/webhook-handlers.ts";
import type { TriggerSource } from "../triggers/trigger-handlers.ts";
import type { FileSource } from "../files/file-handlers.ts";
import type { SkillSource } from "../skills/skill-handlers.ts";
import type { ConnectionSource } from "../connections/connection-handlers.ts";
import type { NotifySource } from "../notify/notify-handlers.ts";
import type { ResponseSockets } from "../sockets/response-sockets.ts";
import type { RegistryMethods } from "./registry.ts";
import type { TenantHolder } from "./tenant-holder.ts";

/** The parts of a tenant's object that carry out commands. */
export interface TenantCommandParts {
  tenant: TenantHolder;
  webhooks: WebhookSource;
  triggers: TriggerSource;
  /** The sockets of Workers that wait for the end of a key, with its id. */
  keys: Pick<CredentialSockets<string>, "open" | "end"> & Pick<ResponseSockets, "endTokens">;
  connections: ConnectionSource;
  notify: NotifySource;
  skills: SkillSource;
  files: FileSource;
}

/** The methods of a tenant's object that are called over RPC. */
export type TenantMethods = Omit<TenantGateway, "events" | "keyEnds" | "responseSocket"> &
  TenantOfTeam &
  TenantOfMemories &
  RegistryMethods &
  Pick<Erasure<null>, "wipe">;

export type TenantHandlers = Handlers<TenantMethods, TenantCommandParts>;
