import type { AnyComponentDefinition } from "../../core/component/component.ts";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";
import { httpToolDefinition } from "./http-tool.ts";

/** The component definition of `HttpTool`, with the fetch, settings and secrets of its host. */
export function httpToolComponents(
  dependencies: OutgoingDependencies = {},
): AnyComponentDefinition[] {
  return [httpToolDefinition(dependencies)];
}
