// The SDK's parts for a connection, loaded with `await import("./sdk.ts")` when a component first needs them: the SDK is
// large.
//
// A bundler that writes one file initializes such modules, and all packages they share with others, on demand. esbuild
// then forgets to initialize zod for the other modules unless zod's own entry is among the imports here, as it is by
// StdioTransport: the SDK imports another entry, and zod's own only passes on its parts. Without it no Worker starts.
export {
  auth,
  Client,
  ClientCredentialsProvider,
  computeScopeUnion,
  createPrivateKeyJwtAuth,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
export { StdioTransport } from "./stdio-transport.ts";
