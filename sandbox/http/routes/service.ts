import { type Endpoint, json } from "../endpoint.ts";
import type { Services } from "../services.ts";

export function serviceEndpoints({ sessions, programs, isolation }: Services): Endpoint[] {
  return [
    {
      method: "delete",
      path: "/v1/sessions/:session",
      id: "deleteSession",
      summary: "Delete a session: stop its code, delete its files and results",
      answers: { 204: { description: "The session does not exist any more." } },
      problems: [422],
      async handle(call) {
        const session = call.session();
        await programs.endSession(session);
        await sessions.remove(session);
        return new Response(null, { status: 204 });
      },
    },
    {
      method: "get",
      path: "/v1/languages",
      id: "listLanguages",
      summary: "List the languages of blocks",
      answers: {
        200: { description: "The languages, with their names and aliases.", schema: "Languages" },
      },
      async handle() {
        const languages = isolation.languages.map(({ name, aliases, version, packages }) => ({
          name,
          aliases,
          version,
          ...(packages && { packages }),
        }));
        return json({ isolation: isolation.name, languages });
      },
    },
    {
      method: "get",
      path: "/healthz",
      id: "health",
      summary: "Check that the service is up",
      open: true,
      answers: { 200: { description: "The service is up.", schema: "Health" } },
      async handle() {
        const { missing } = isolation;
        return json({ status: "ok", ...(missing.length > 0 && { missing }) });
      },
    },
  ];
}
