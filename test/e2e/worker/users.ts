// A service whose callers are users of one tenant. What `authenticate` returns comes from headers.
import { type Caller, createTroupe } from "troupe/worker";
import { catalog } from "./greeter.ts";

const troupe = createTroupe({
  catalog,
  authenticate({ headers }) {
    const given = headers.get("x-caller");
    if (given === null) return undefined;
    const caller = JSON.parse(given) as Partial<Caller>;
    // As a site returns it whose session has no user.
    if (caller.user === "(undefined)") Object.assign(caller, { user: undefined });
    return { tenant: "acme", ...caller };
  },
});

export const { MemoryObject, TeamObject, TenantObject } = troupe;
export default { fetch: troupe.fetch };
