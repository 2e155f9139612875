import { errorMessage, TroupeError } from "../../../core/errors.ts";
import {
  askedWaitText,
  isUnsent,
  outlookOfStatus,
  RequestError,
  type RequestErrorOptions,
} from "../../../outgoing/request-error.ts";
import { beginningOf } from "../../../core/cut.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";

/** Longer error texts of servers are truncated. */
const MAX_MESSAGE = 2_000;

/**
 * A request to an MCP server without a result. `mcp_connection` and `mcp_timeout` are temporary; `mcp_refused`: the server
 * answered with an error; `mcp_protocol`: its answer exceeds a limit or violates the protocol.
 */
export class McpError extends RequestError {
  constructor(
    code: "mcp_connection" | "mcp_timeout" | "mcp_refused" | "mcp_protocol",
    message: string,
    options: Omit<RequestErrorOptions, "retryable"> = {},
  ) {
    const retryable = code === "mcp_connection" || code === "mcp_timeout";
    super(code, message, { outage: code === "mcp_connection", ...options, retryable });
  }
}

/** Sentences in a row. Words of servers and programs often come without a full stop. */
export function sentences(...texts: readonly string[]): string {
  const parts = texts.map((text) => text.trim()).filter((text) => text !== "");
  return parts
    .map((text, index) =>
      index === parts.length - 1 || /[.!?:…]["')\]]*$/u.test(text) ? text : `${text}.`,
    )
    .join(" ");
}

/**
 * Turns an error of the SDK or `fetch` into an McpError. Secrets are removed from its text.
 *
 * @param refusal the last answer that refused a request, whose headers the SDK does not keep
 */
export function mcpError(
  error: unknown,
  server: string,
  secrets: Secrets,
  refusal?: Pick<Response, "status" | "headers">,
): TroupeError {
  const ownError = troupeErrorIn(error);
  if (ownError !== undefined) return ownError;
  const text = beginningOf(secrets.redact(innermostMessage(error)), MAX_MESSAGE);
  const { code, status } = error as { code?: unknown; status?: unknown };
  if (typeof status === "number") {
    const headers = refusal?.status === status ? refusal.headers : undefined;
    // The refused request may be another one of the session.
    const { retryable, outage, retryAfterMs } = outlookOfStatus(status, headers);
    const answered = `The MCP server "${server}" answered HTTP ${status}${text && `: ${text}`}`;
    const remedy = "Give it other credentials: headers or oauth in its server_params.";
    return retryable
      ? new McpError("mcp_connection", answered + askedWaitText(retryAfterMs), {
          outage,
          retryAfterMs,
        })
      : new McpError("mcp_refused", status === 401 ? sentences(answered, remedy) : answered);
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
  return new McpError("mcp_connection", `The MCP server "${server}" cannot be reached: ${text}`, {
    unsent: isUnsent(error),
  });
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
