import { default as service, type Env } from "troupe/worker";
import { converse, type Place } from "../support/converse.ts";

export { MemoryObject, TeamObject, TenantObject } from "troupe/worker";

/** The service, beside a route that uses OpenAI's client. */
export default {
  async fetch(request, env) {
    if (new URL(request.url).pathname !== "/converse") return service.fetch(request, env);
    return Response.json(await converse(await request.json<Place>()));
  },
} satisfies ExportedHandler<Env>;
