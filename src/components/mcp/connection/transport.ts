import type { AuthProvider, OAuthClientProvider, Transport } from "@modelcontextprotocol/client";
import { refuseWhereNew } from "../../../core/component/refused-where-new.ts";
import { type Issue, ValueError } from "../../../core/errors.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import { Secrets } from "../../../outgoing/dependencies.ts";
import { unknownValuesOfRun, valuesOfRunInEnvironment } from "../../../outgoing/context-headers.ts";
import { checkHeaders } from "../../../outgoing/headers.ts";
import { requireSandbox } from "../../sandbox/sandbox-code-executor.ts";
import type { ServerMessages } from "../answers/server-messages.ts";
import type { McpDependencies } from "./dependencies.ts";
import type { McpError } from "../answers/mcp-error.ts";
import { serverFetch } from "./server-fetch.ts";
import type { McpServerConfig } from "./server-params.ts";

/** The session of an earlier connection that a new one continues. */
export interface EarlierSession {
  sessionId: string;
  protocolVersion: string | undefined;
}

export interface TransportOptions {
  dependencies: McpDependencies;
  secrets: Secrets;
  /** The run whose values the headers have. Undefined outside of a run. */
  run: RunContext | undefined;
  /** Reads what the server answers on this connection. */
  messages: ServerMessages;
  /** Gets the error for which the connection has to be closed. */
  onExcess: (error: McpError) => void;
  /** Gets each answer that refuses a request. */
  onRefused: (response: Response) => void;
  /** Called when an awaited answer can no longer arrive: the connection has to be closed. */
  onLost: () => void;
  /** Gets access tokens if the server requires them. It outlives connections, and so do its tokens. */
  authProvider?: OAuthClientProvider | AuthProvider | undefined;
  earlier?: EarlierSession | undefined;
  /** The sandbox session in which a stdio server runs. */
  sandboxSession: string;
}

/** @throws ValueError that names the field of the parameters that cannot be used */
export function checkServerParams(params: McpServerConfig, { sandbox }: McpDependencies): void {
  refuseWhereNew("server_params", serverParamsMistakes(params));
  if (params.type === "StdioServerParams") {
    if (sandbox === undefined) {
      throw refused(
        "command",
        "is a program, which runs in a sandbox, and this server has none: set SANDBOX_URL to a sandbox with SANDBOX_MCP=1, or use the server's HTTP address with StreamableHttpServerParams",
      );
    }
    return;
  }
  const url = URL.canParse(params.url) ? new URL(params.url) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw refused("url", "must be an http:// or https:// URL");
  }
  if (url.username !== "" || url.password !== "") {
    throw refused("url", "must not contain a user name or password: send them in a header");
  }
  checkHeaders(params.headers ?? {}, "server_params.headers");
}

/** Mistakes that are refused in new parameters. Their paths are keys of the component's config. */
export function serverParamsMistakes(params: McpServerConfig): Issue[] {
  return params.type === "StdioServerParams"
    ? valuesOfRunInEnvironment(params.env, "server_params.env")
    : unknownValuesOfRun(params.headers, "server_params.headers");
}

/** The secrets of a server. They are sent to its host or, for a program, to the sandbox. */
export function secretsOf(params: McpServerConfig, dependencies: McpDependencies): Secrets {
  const destination =
    params.type === "StdioServerParams"
      ? (dependencies.sandbox?.url ?? "")
      : new URL(params.url).origin;
  return new Secrets(dependencies, destination, params);
}

/** A new transport to the server. Loads the SDK. */
export async function openTransport(
  params: McpServerConfig,
  options: TransportOptions,
): Promise<Transport> {
  const { dependencies, secrets, messages, onExcess, onRefused, onLost, authProvider } = options;
  const { earlier, sandboxSession } = options;
  const sdk = await import("./sdk.ts");
  if (params.type === "StdioServerParams") {
    return new sdk.StdioTransport(params, {
      sandbox: requireSandbox(dependencies.sandbox),
      session: sandboxSession,
      secrets,
      messages,
      onExcess,
    });
  }
  const url = new URL(params.url);
  const request = serverFetch({
    dependencies,
    origin: url.origin,
    issuer: params.oauth ? new URL(params.oauth.issuer).origin : undefined,
    headers: params.headers ?? {},
    secrets,
    run: options.run,
    messages,
    onExcess,
    onRefused,
    onLost,
  });
  const common = { fetch: request, ...(authProvider && { authProvider }) };
  return params.type === "SseServerParams"
    ? new sdk.SSEClientTransport(url, common)
    : new sdk.StreamableHTTPClientTransport(url, {
        ...common,
        ...(earlier && {
          sessionId: earlier.sessionId,
          ...(earlier.protocolVersion !== undefined && {
            protocolVersion: earlier.protocolVersion,
          }),
        }),
      });
}

function refused(path: string, message: string): ValueError {
  return new ValueError(`${path} ${message}`, {
    issues: [{ path: `server_params.${path}`, message }],
  });
}
