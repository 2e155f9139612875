import { createTroupe } from "./create-troupe.ts";

export type { Env } from "./compose.ts";
export { type Caller, createTroupe, type Troupe, type TroupeOptions } from "./create-troupe.ts";

const troupe = createTroupe();

/** A team: a Durable Object whose name is made of tenant and id. */
export class TeamObject extends troupe.TeamObject {}
/** A tenant: its keys, its limits, its webhooks and the directory of its teams. */
export class TenantObject extends troupe.TenantObject {}

export default { fetch: troupe.fetch };
