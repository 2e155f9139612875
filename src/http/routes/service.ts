import { preparedComponent } from "../input/component.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { componentBodySchema } from "../../contract/team.ts";
import type { Services } from "../services.ts";

/** What is not about one team. */
export function serviceEndpoints(services: Services): Endpoint[] {
  const tag = "Service" as const;

  return [
    endpoint({
      method: "get",
      path: "/v1/templates",
      id: "listTemplates",
      summary: "Teams that can be created by name",
      tag,
      scope: "teams:read",
      answers: { 200: { description: "The templates.", schema: "Templates" } },
      handle: async () => json({ templates: await services.templates() }),
    }),

    endpoint({
      method: "get",
      path: "/v1/components",
      id: "listComponents",
      summary: "Known providers with the JSON Schema of their config",
      tag,
      scope: "teams:read",
      answers: { 200: { description: "The providers.", schema: "Components" } },
      handle: async () => json({ components: await services.components.definitions() }),
    }),

    endpoint({
      method: "post",
      path: "/v1/components/validate",
      id: "validateComponent",
      summary: "Whether a component can be loaded; all mistakes at once",
      tag,
      scope: "teams:read",
      body: componentBodySchema,
      answers: { 200: { description: "It can.", schema: "Valid" } },
      problems: [502],
      async handle({ body }) {
        const { notes } = await preparedComponent(body.component, services);
        return json({ valid: true, notes });
      },
    }),
  ];
}
