import type { AnyComponentDefinition } from "../core/component/component.ts";
import type { OutgoingDependencies } from "../outgoing/dependencies.ts";
import { httpToolDefinition } from "./http/http-tool.ts";

/** The tools of this folder as components, with what their host lets them use. */
export function outgoingTools(dependencies: OutgoingDependencies = {}): AnyComponentDefinition[] {
  return [httpToolDefinition(dependencies)];
}
