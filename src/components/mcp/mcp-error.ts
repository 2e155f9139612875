import { errorMessage, TroupeError } from "../../core/errors.ts";
import type { Secrets } from "../../outgoing/dependencies.ts";

/** Longer error texts of servers are truncated. */
const MAX_MESSAGE = 2_000;

/**
 * A request to an MCP server without a result. `mcp_connection` and `mcp_timeout` are temporary; `mcp_refused`: the server
 * answered with an error; `mcp_protocol`: its answer exceeds a limit or violates the protocol.
 */
export class McpError extends TroupeError {
  readonly retryable: boolean;

  constructor(
    code: "mcp_connection" | "mcp_timeout" | "mcp_refused" | "mcp_protocol",
    message: string,
  ) {
    super(code, message);
    this.retryable = code === "mcp_connection" || code === "mcp_timeout";
  }
}

/** Turns an error of the SDK or `fetch` into an McpError. Secrets are removed from its text. */
export function mcpError(error: unknown, server: string, secrets: Secrets): TroupeError {
  const known = troupeErrorIn(error);
  if (known !== undefined) return known;
  const text = secrets.redact(innermostMessage(error)).slice(0, MAX_MESSAGE);
  const { code, status } = error as { code?: unknown; status?: unknown };
  if (typeof status === "number") {
    const passing = status === 408 || status === 429 || (status >= 500 && status !== 501);
    const remedy =
      status === 401 ? " Give it other credentials: headers or oauth in its server_params." : "";
    return new McpError(
      passing ? "mcp_connection" : "mcp_refused",
      `The MCP server "${server}" answered HTTP ${status}: ${text}${remedy}`,
    );
  }
  if (code === "REQUEST_TIMEOUT") {
    return new McpError("mcp_timeout", `The MCP server "${server}" did not answer in time.`);
  }
  if (code === "CONNECTION_CLOSED" || code === "SEND_FAILED" || code === "NOT_CONNECTED") {
    return new McpError("mcp_connection", `The connection to the MCP server "${server}" was lost.`);
  }
  // Errors of the protocol have numeric codes.
  if (typeof code === "number") return new McpError("mcp_refused", text);
  const { mcpBrand } = (error as Error).constructor as { mcpBrand?: unknown };
  const passing = code === "server_error" || code === "temporarily_unavailable";
  // The SDK marks its own errors, such as those of OAuth, but not those of the connection.
  if (mcpBrand !== undefined && code === undefined) {
    return new McpError("mcp_refused", `The MCP server "${server}": ${text}`);
  }
  if (typeof code === "string" && code !== "ERA_NEGOTIATION_FAILED" && !passing) {
    return new McpError("mcp_protocol", `The MCP server "${server}": ${text}`);
  }
  return new McpError("mcp_connection", `The MCP server "${server}" cannot be reached: ${text}`);
}

/** The SDK wraps what `fetch` throws. */
function troupeErrorIn(error: unknown): TroupeError | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof TroupeError) return inner;
  }
  return undefined;
}

function innermostMessage(error: unknown): string {
  let inner = error;
  while (inner instanceof Error && inner.cause instanceof Error) inner = inner.cause;
  return errorMessage(inner);
}
