import { documents } from "troupe/documents";
import { createTroupe, type Env } from "troupe/worker";

// A Worker that reads PDF itself.

const troupe = createTroupe({ documents });

export class TeamObject extends troupe.TeamObject {}
export class TenantObject extends troupe.TenantObject {}
export class MemoryObject extends troupe.MemoryObject {}

export default {
  fetch: (request: Request, env: Env) => troupe.fetch(request, env),
} satisfies ExportedHandler<Env>;
