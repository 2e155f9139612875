import type { Issue } from "../core/errors.ts";
import type { Template } from "../core/component/template.ts";
import type { Gateway } from "../core/run/gateway.ts";
import type { Limits } from "./limits.ts";
import type { ComponentList } from "./schemas/team.ts";

/** What the API asks of the component registry. */
export interface ComponentCatalog {
  /** Everything that is wrong with a team or agent, paths starting at the component; empty when it can be loaded. */
  validate(component: unknown): readonly Issue[];
  list(): ComponentList["components"];
}

/** What the routes work with. */
export interface Services {
  gateway: Gateway;
  components: ComponentCatalog;
  templates: readonly Template[];
  limits: Limits;
}
