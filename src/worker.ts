import { createTroupe } from "./create-troupe.ts";

export type { Env } from "./compose.ts";
export { type Caller, createTroupe, type Troupe, type TroupeOptions } from "./create-troupe.ts";

const troupe = createTroupe();

/** A team: a Durable Object whose name is made of tenant and id. */
export const TeamObject = troupe.TeamObject;
/** A tenant: its keys, its limits, its webhooks and the directory of its teams. */
export const TenantObject = troupe.TenantObject;

export default { fetch: troupe.fetch };
