import { createTroupe, type ObjectClass } from "./create-troupe.ts";

export type { IncomingEmail } from "../api/inbound/email/receive-mail.ts";
export type { ContainersBinding } from "../components/sandbox/session-containers.ts";
export type {
  LoadedWorker,
  WorkerCode,
  WorkerLoaderBinding,
} from "../components/worker-loader/worker-loader.ts";
export type { EmailBinding } from "../outgoing/email.ts";
export type { Env } from "./compose.ts";
export {
  type Caller,
  createTroupe,
  type ObjectClass,
  type TenantLimitOptions,
  type Troupe,
  type TroupeOptions,
} from "./create-troupe.ts";
export type { Limits } from "../api/http/endpoint/limits.ts";
export type { LimitName, SettingName, SETTINGS } from "./settings.ts";
export type {
  OutsideVector,
  VectorIndexInfo,
  VectorService,
} from "../memory/vectors/vector-service.ts";

const troupe = createTroupe();

/** A team: a Durable Object named by its tenant and id. */
export const TeamObject: ObjectClass = troupe.TeamObject;
/** The type of its instances, which the types that wrangler writes refer to. */
export type TeamObject = InstanceType<ObjectClass>;
/** A tenant: its keys, limits, webhooks and the directory of its teams. */
export const TenantObject: ObjectClass = troupe.TenantObject;
export type TenantObject = InstanceType<ObjectClass>;
/** Collections of documents, and memories of users and of the tenant. */
export const MemoryObject: ObjectClass = troupe.MemoryObject;
export type MemoryObject = InstanceType<ObjectClass>;

export default { fetch: troupe.fetch, email: troupe.email };
