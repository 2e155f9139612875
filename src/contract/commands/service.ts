import {
  componentBodySchema,
  componentsSchema,
  orComponent,
  templatesSchema,
  validSchema,
} from "../team.ts";
import { command } from "./command.ts";

/** Commands that do not concern one team. */
export const serviceCommands = {
  listTemplates: command({
    method: "get",
    path: "/v1/templates",
    summary: "Teams that can be created by name",
    tag: "Service",
    scope: "teams:read",
    answers: { 200: { description: "The templates.", schema: { Templates: templatesSchema } } },
  }),

  listComponents: command({
    method: "get",
    path: "/v1/components",
    summary: "Known providers with the JSON Schema of their config",
    tag: "Service",
    scope: "teams:read",
    answers: { 200: { description: "The providers.", schema: { Components: componentsSchema } } },
  }),

  validateComponent: command({
    method: "post",
    path: "/v1/components/validate",
    summary: "Whether a component can be loaded; all mistakes at once",
    tag: "Service",
    scope: "teams:read",
    body: orComponent(componentBodySchema),
    answers: { 200: { description: "It can.", schema: { Valid: validSchema } } },
    problems: [502],
  }),
};
