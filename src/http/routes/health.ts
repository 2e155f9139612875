import { type Endpoint, endpoint, json } from "../endpoint.ts";

/** Asked by whoever watches the service, so it needs nothing else of it. */
export function healthEndpoint(): Endpoint {
  return endpoint({
    method: "get",
    path: "/healthz",
    id: "health",
    summary: "Whether the service answers",
    tag: "Service",
    scope: null,
    answers: { 200: { description: "It does.", schema: "Health" } },
    handle: async () => json({ status: "ok" }),
  });
}
