// A class of a component is named here only, as in core/registry/basic-classes.ts.
export { McpSessionHost, type McpSessionHostOptions } from "./connection/session-host.ts";
export { type Elicitor, HumanElicitor } from "./host/elicitor.ts";
export { type Root, type RootsProvider, StaticRootsProvider } from "./host/roots-provider.ts";
export { ChatCompletionClientSampler, type Sampler, type SamplerOptions } from "./host/sampler.ts";
export { McpWorkbench } from "./mcp-workbench.ts";
export {
  type McpToolAdapter,
  type McpToolAdapterOptions,
  SseMcpToolAdapter,
  StdioMcpToolAdapter,
  StreamableHttpMcpToolAdapter,
} from "./tool-adapters.ts";
export type { McpToolOverride, McpWorkbenchOptions } from "./workbench-config.ts";
