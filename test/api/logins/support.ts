import { AssistantAgent, dumpComponent, McpWorkbench, ReplayChatCompletionClient } from "troupe";
import type { RunInfo } from "#contract/run.ts";
import type { ConnectionList, StartedConnection } from "#contract/tenant/connection.ts";
import type { LoginServer } from "../../components/mcp/support/login-server.ts";
import type { TestMcpServer } from "../../components/mcp/support/test-server.ts";
import { jsonInit } from "../../support/http-app.ts";
import { freePort } from "../../support/ports.ts";
import { TestWorker } from "../../support/worker.ts";
import { bearer, deployed } from "../protocols/support/access.ts";

const CALL = {
  finish_reason: "function_calls" as const,
  content: [{ id: "c", name: "echo", arguments: '{"text":"hi"}' }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
  cached: false,
};

/** A deployed Worker, and teams whose agents call a tool of a server that wants a login. */
export class LoginStage implements AsyncDisposable {
  readonly worker: TestWorker;
  readonly origin: string;

  private constructor(worker: TestWorker, origin: string) {
    this.worker = worker;
    this.origin = origin;
  }

  /** @param servers those that it may reach */
  static async start(
    servers: readonly LoginServer[],
    settings: Record<string, string> = {},
  ): Promise<LoginStage> {
    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const reached = servers.flatMap(({ mcp, issuer }) => [new URL(mcp.url).origin, issuer]);
    const all = { PUBLIC_URL: origin, ALLOWED_EGRESS: reached.join(","), ...settings };
    return new LoginStage(await TestWorker.start(await deployed(all), { port }), origin);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.worker[Symbol.asyncDispose]();
  }

  async json<T>(path: string, body?: object, key = "acme"): Promise<T> {
    const init =
      body === undefined ? { headers: bearer(key) } : jsonInit(body, "POST", bearer(key));
    const response = await this.worker.fetch(path, init);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  async newTeam(id: string, server: TestMcpServer): Promise<void> {
    const modelInfo = {
      vision: false,
      functionCalling: true,
      jsonOutput: false,
      structuredOutput: false,
      family: "unknown",
    };
    const agent = new AssistantAgent({
      name: "clerk",
      modelClient: new ReplayChatCompletionClient(
        Array.from({ length: 30 }, () => CALL),
        { modelInfo },
      ),
      workbench: [new McpWorkbench({ serverParams: server.params })],
    });
    await this.json("/v1/teams", { id, component: dumpComponent(agent) });
  }

  run(team: string, user?: string): Promise<RunInfo> {
    return this.json(`/v1/teams/${team}/runs?wait=30`, { task: "go", ...(user && { user }) });
  }

  stop(team: string, { id }: RunInfo): Promise<RunInfo> {
    return this.json(`/v1/teams/${team}/runs/${id}/stop`, { mode: "now" });
  }

  /** A token of a team for a user. */
  async token(team: string, scopes: readonly string[], user?: string): Promise<string> {
    const body = { scopes, expires_in: 300, ...(user && { user }) };
    const { token } = await this.json<{ token: string }>(`/v1/teams/${team}/tokens`, body);
    return token;
  }

  begin(server: TestMcpServer, user?: string): Promise<StartedConnection> {
    return this.json("/v1/connections", { server: server.url, ...(user && { user }) });
  }

  async connections(key = "acme", query = ""): Promise<ConnectionList["connections"]> {
    return (await this.json<ConnectionList>(`/v1/connections${query}`, undefined, key)).connections;
  }

  async forget(id: string, key = "acme"): Promise<number> {
    const init = { method: "DELETE", headers: bearer(key) };
    return (await this.worker.fetch(`/v1/connections/${id}`, init)).status;
  }
}
