import type { AnyComponentDefinition } from "../../core/component/component.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { a2aAgentDefinition } from "./a2a-agent.ts";

/** The component definition of `A2AAgent`, with the fetch, settings and secrets of its host. */
export function a2aComponents(dependencies: OutgoingDependencies = {}): AnyComponentDefinition[] {
  return [a2aAgentDefinition(dependencies)];
}
