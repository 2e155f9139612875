// The part of the SDK that answers messages, loaded with server.ts for the first one: the SDK is large.
//
// zod's own entry must be among the imports of what is loaded like this (src/components/mcp/connection/sdk.ts says why);
// list-tools.ts has it.
export {
  createMcpHandler,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
