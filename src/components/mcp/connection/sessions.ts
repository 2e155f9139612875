import type { RetryPolicy } from "../../../core/steps/retry.ts";
import { retryPolicyOf } from "../../../core/steps/retry-config.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import { valuesOfRun } from "../../../outgoing/context-headers.ts";
import type { McpDependencies } from "./dependencies.ts";
import { type McpServerConfig, serverName } from "./server-params.ts";
import { McpSession, type ServerRequests } from "./session.ts";

/** Sessions that are kept beside each other. The one that was used longest ago is closed for another. */
const MOST_SESSIONS = 16;

/**
 * The sessions with an MCP server. Runs share one only if their headers have the same values: a server may know whose session it is by
 * the headers of its first request.
 */
export class McpSessions {
  readonly #params: McpServerConfig;
  readonly #dependencies: McpDependencies;
  readonly #requests: ServerRequests | undefined;
  /** By the values of the run, the last used one at the end. */
  readonly #sessions = new Map<string, McpSession>();

  constructor(params: McpServerConfig, dependencies: McpDependencies, requests?: ServerRequests) {
    this.#params = params;
    this.#dependencies = dependencies;
    this.#requests = requests;
  }

  /** The time for which requests are repeated while the server is away. */
  get retry(): RetryPolicy | undefined {
    return retryPolicyOf({ retry: this.#params.retry });
  }

  /** The name of the server in messages. */
  get server(): string {
    return serverName(this.#params);
  }

  /** @param run undefined outside of a run */
  of(run: RunContext | undefined): McpSession {
    const params = this.#params;
    const headers = params.type === "StdioServerParams" ? {} : (params.headers ?? {});
    const values = valuesOfRun(headers, run);
    const session =
      this.#sessions.get(values) ??
      new McpSession(params, this.#dependencies, { requests: this.#requests, run });
    this.#sessions.delete(values);
    this.#sessions.set(values, session);
    this.#closeOldest();
    return session;
  }

  /** Ends the sessions at the server and closes the connections. */
  async close(): Promise<void> {
    const sessions = [...this.#sessions.values()];
    this.#sessions.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }

  #closeOldest(): void {
    if (this.#sessions.size <= MOST_SESSIONS) return;
    for (const [values, session] of this.#sessions) {
      if (session.isInUse) continue;
      this.#sessions.delete(values);
      // A server that is away ends its session by itself.
      void session.close().catch(() => undefined);
      return;
    }
  }
}
