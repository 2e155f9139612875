import type { OutgoingDependencies } from "../../../outgoing/dependencies.ts";
import type { SandboxAddress } from "../../sandbox/client/sandbox-connection.ts";

// A file of its own, because the declarations of the package must not lead to those of MCP's SDK, which need the types
// of Node.

/** Dependencies of MCP components on their host. */
export interface McpDependencies extends OutgoingDependencies {
  /** Runs the programs of stdio servers. Without it they are refused. */
  sandbox?: SandboxAddress | undefined;
}
