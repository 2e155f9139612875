import { createTroupe, type Env } from "troupe/worker";

const troupe = createTroupe();
export const { MemoryObject, TeamObject, TenantObject } = troupe;

/** A site with a page of its own beside the API. */
export default {
  fetch(request, env) {
    if (new URL(request.url).pathname !== "/page") return troupe.fetch(request, env);
    return new Response(env.PAGE, { headers: { "content-type": "text/html" } });
  },
} satisfies ExportedHandler<Env & { PAGE: string }>;
