import { type Endpoint, json } from "../endpoint.ts";
import { missingWalls } from "../../isolation.ts";
import type { Services } from "../services.ts";

export function serviceEndpoints({
  sessions,
  programs,
  isolation,
  programIsolation,
}: Services): Endpoint[] {
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
        const missing = missingWalls(isolation, programIsolation);
        return json({
          status: "ok",
          code: { isolation: isolation.name, walls: isolation.walls },
          programs: programIsolation
            ? { isolation: programIsolation.name, walls: programIsolation.walls }
            : null,
          env: true,
          folders: true,
          ...(missing.length > 0 && { missing }),
        });
      },
    },
  ];
}
