import type { ComponentModel } from "../../../core/component/component-model.ts";

/**
 * The name of a component's agent if all it says is the answer: a single agent whose answers are texts. In a team, only the end
 * tells which message was the last.
 */
export function liveAgent({ component_type, provider, config }: ComponentModel): string | null {
  const isAgent = component_type == null ? provider.endsWith("Agent") : component_type === "agent";
  const isText = (config["structured_message_factory"] ?? null) === null;
  return isAgent && isText && typeof config["name"] === "string" ? config["name"] : null;
}
