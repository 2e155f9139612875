import type { AnyComponentDefinition } from "../../core/component/component.ts";
import { HumanElicitor } from "./host/elicitor.ts";
import { mcpWorkbenchDefinition } from "./mcp-workbench.ts";
import { StaticRootsProvider } from "./host/roots-provider.ts";
import { ChatCompletionClientSampler } from "./host/sampler.ts";
import { McpSessionHost } from "./connection/session-host.ts";
import { mcpToolAdapterDefinitions } from "./tool-adapters.ts";
import type { McpDependencies } from "./connection/dependencies.ts";

/** The components of the MCP client, with the fetch, settings, secrets and sandbox of their host. */
export function mcpComponents(dependencies: McpDependencies = {}): AnyComponentDefinition[] {
  return [
    mcpWorkbenchDefinition(dependencies),
    ...mcpToolAdapterDefinitions(dependencies),
    McpSessionHost.component,
    ChatCompletionClientSampler.component,
    HumanElicitor.component,
    StaticRootsProvider.component,
  ];
}
