// What a request needs, loaded with `await import("./sdk.ts")` when one first comes: the SDK is large.
//
// zod's own entry must be among the imports of a module that is loaded like this (src/mcp/sdk.ts says why); output.ts has it.
export {
  createMcpHandler,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
export { runOutputSchema } from "./output.ts";
