import { default as service, type Env } from "troupe/worker";
import { type CaseInput, type CaseName, runCase } from "../support/cases.ts";

export { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

/** The service, beside a route that uses its client. */
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/cases") return service.fetch(request, env);
    const { name, input } = await request.json<{ name: CaseName; input: CaseInput }>();
    return Response.json(await runCase(name, input));
  },
} satisfies ExportedHandler<Env>;
