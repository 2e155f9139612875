import { type Endpoint, json } from "../endpoint.ts";
import type { Services } from "../services.ts";

export function serviceEndpoints({ sessions, isolation }: Services): Endpoint[] {
  return [
    {
      method: "delete",
      path: "/v1/sessions/:session",
      id: "deleteSession",
      summary: "Remove a session: its files, its results, and what runs in it",
      answers: { 204: { description: "There is none of this name." } },
      problems: [422],
      async handle(call) {
        await sessions.remove(call.session());
        return new Response(null, { status: 204 });
      },
    },
    {
      method: "get",
      path: "/v1/languages",
      id: "listLanguages",
      summary: "What blocks may be written in",
      answers: { 200: { description: "With the names that blocks use.", schema: "Languages" } },
      async handle() {
        const languages = isolation.languages.map(({ name, aliases, version }) => ({
          name,
          aliases,
          version,
        }));
        return json({ isolation: isolation.name, languages });
      },
    },
    {
      method: "get",
      path: "/healthz",
      id: "health",
      summary: "Whether the service answers",
      open: true,
      answers: { 200: { description: "It does.", schema: "Health" } },
      async handle() {
        return json({ status: "ok" });
      },
    },
  ];
}
