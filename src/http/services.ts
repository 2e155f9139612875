import type { ComponentRegistry } from "../core/component/registry.ts";
import type { Template } from "../core/component/template.ts";
import type { Gateway } from "../contract/gateway.ts";
import type { RedactedSecrets } from "../secrets/redacted-secrets.ts";
import type { Limits } from "./limits.ts";

/** The services that routes use. */
export interface Services {
  gateway: Gateway;
  components: Pick<ComponentRegistry, "prepare" | "validate" | "definitions" | "notes">;
  templates: readonly Template[];
  /** Puts references in the place of secrets that a dump has redacted. */
  redactedSecrets: Pick<RedactedSecrets, "resolve">;
  limits: Limits;
}
