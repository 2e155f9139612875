import type {
  AuthProvider,
  Client,
  OAuthClientProvider,
  PriorDiscovery,
  Transport,
} from "@modelcontextprotocol/client";
import type { ServerLogins } from "../../../core/steps/server-logins.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";
import { challengeOf, LoginNeededError, noLogins } from "./challenge.ts";
import { authentication } from "./authentication.ts";
import { type McpError, mcpError } from "../mcp-error.ts";
import { type McpServerConfig, serverName, timeoutsOf } from "../server-params.ts";
import type { McpDependencies } from "../dependencies.ts";
import { type EarlierSession, openTransport, secretsOf } from "./transport.ts";

/**
 * Milliseconds without requests after which a connection is closed: an open one would keep the team's object in memory.
 * A session of Streamable HTTP continues with the next connection; other servers start from scratch.
 */
const IDLE_MS = 60_000;

/** Time limit for version negotiation: a program that is still starting also answers the older handshake. */
const PROGRAM_PROBE_MS = 5_000;

const CLIENT = { name: "troupe", version: "1" };

/** The requests that the server may make to its client, and their handlers. */
export interface ServerRequests {
  readonly capabilities: {
    sampling?: Record<string, never>;
    elicitation?: { form: Record<string, never> };
    roots?: Record<string, never>;
  };
  register(client: Client): void;
}

export interface SessionUse {
  signal: AbortSignal;
  /** The sandbox session in which a stdio server runs. Default: a session of this object. */
  sandboxSession?: string | undefined;
  /** The logins of the tenant, and the id of the question that asks a human for one. */
  logins?: { host: ServerLogins; question: string } | undefined;
}

/** A connection in use. */
interface Connection {
  client: Client;
  transport: Transport;
}

/**
 * The connection to an MCP server. It is opened on demand, shared by concurrent requests, closed when idle, and opened
 * again when it was lost.
 */
export class McpSession {
  readonly #params: McpServerConfig;
  readonly #dependencies: McpDependencies;
  readonly #requests: ServerRequests | undefined;
  readonly #secrets: Secrets;
  readonly #ownSandboxSession = crypto.randomUUID();
  #open: Promise<Connection> | undefined;
  /** The connection that was opened last. */
  #live: Connection | undefined;
  /** The client of a connection that was closed when idle, and its session at the server. */
  #earlier: { client: Client; session: EarlierSession } | undefined;
  #authProvider: OAuthClientProvider | AuthProvider | undefined;
  /** The access token of the tenant's login. */
  #token: { token: string; fresh: boolean } | undefined;
  /** The protocol generation of the server, once known: it saves the negotiation at the next connection. */
  #generation: PriorDiscovery | undefined;
  /** Why the current connection had to be closed. */
  #excess: McpError | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(params: McpServerConfig, dependencies: McpDependencies, requests?: ServerRequests) {
    this.#params = params;
    this.#dependencies = dependencies;
    this.#requests = requests;
    this.#secrets = secretsOf(params, dependencies);
  }

  /** The name of the server in messages. */
  get server(): string {
    return serverName(this.#params);
  }

  /** Whether the server is a program to which the sandbox gives no network. */
  get lacksNetwork(): boolean {
    const { transport } = this.#live ?? {};
    return transport !== undefined && "network" in transport && transport.network === false;
  }

  /** `text` without the secrets that were sent to the server. */
  redact(text: string): string {
    return this.#secrets.redact(text);
  }

  /**
   * Runs requests over a connection. When the server no longer knows the session of an earlier request, they are sent
   * again in a new session, because the server has not handled them. Nor has it handled those that it refuses for want of
   * a login: they are sent again with a token of the tenant's.
   *
   * @param run gets the client and the milliseconds for an answer
   * @throws McpError, LoginNeededError, TroupeError of the rules for outgoing requests, the signal's reason
   */
  async use<T>(use: SessionUse, run: (client: Client, answerMs: number) => Promise<T>): Promise<T> {
    const { answerMs } = timeoutsOf(this.#params);
    clearTimeout(this.#idle);
    this.#users++;
    try {
      return await this.#loggedIn(use, () =>
        this.#inSession(use, (client) => run(client, answerMs)),
      );
    } catch (error) {
      use.signal.throwIfAborted();
      throw mcpError(this.#excess ?? error, this.server, this.#secrets);
    } finally {
      this.#users--;
      if (this.#users === 0) this.#closeWhenIdle();
    }
  }

  async #inSession<T>(use: SessionUse, run: (client: Client) => Promise<T>): Promise<T> {
    const reused = this.#open !== undefined || this.#earlier !== undefined;
    const { client } = await this.#connection(use);
    try {
      return await run(client);
    } catch (error) {
      if (!reused || !isLostSession(error)) throw error;
    }
    await this.#drop();
    return run((await this.#connection(use)).client);
  }

  /** Sends requests again with a token of the tenant's when the server wants a login. Ends when the tenant has no other one. */
  async #loggedIn<T>({ logins }: SessionUse, send: () => Promise<T>): Promise<T> {
    for (;;) {
      const used = this.#token;
      try {
        return await send();
      } catch (error) {
        const asked = challengeOf(error);
        if (asked === undefined) throw error;
        const { server } = this;
        if (logins === undefined || this.#params.type === "StdioServerParams") {
          throw noLogins(server, asked);
        }
        const { url } = this.#params;
        const { token = null, fresh = false } = used ?? {};
        const challenge = { ...asked, server: url, rejected: token, fresh };
        const answer = await logins.host.token(challenge, logins.question);
        if ("login" in answer) throw new LoginNeededError(server, answer.login.url);
        this.#secrets.remember(answer.token);
        this.#token = answer;
      }
    }
  }

  /** Ends the session at the server, if it has one, and closes the connection. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    this.#earlier = undefined;
    const open = this.#open;
    this.#open = undefined;
    const connection = await open?.catch(() => undefined);
    if (connection === undefined) return;
    const { client, transport } = connection;
    if (this.#params.type === "StreamableHttpServerParams" && this.#params.terminate_on_close) {
      // A server that is down, or does not allow it, ends its session by itself.
      await terminate(transport).catch(() => undefined);
    }
    await client.close();
  }

  #connection(use: SessionUse): Promise<Connection> {
    if (this.#open === undefined) {
      const open = this.#connect(use);
      this.#open = open;
      open.catch(() => this.#lose(open));
    }
    return this.#open;
  }

  /** A program that exits during version negotiation is started again with the older handshake. */
  async #connect(use: SessionUse): Promise<Connection> {
    try {
      return await this.#connectOnce(use);
    } catch (error) {
      const asked = this.#generation === undefined && this.#params.type === "StdioServerParams";
      if (!asked || use.signal.aborted || !endedWhenAsked(error)) throw error;
      this.#generation = { kind: "legacy" };
      return this.#connectOnce(use);
    }
  }

  async #connectOnce({ signal, sandboxSession = this.#ownSandboxSession }: SessionUse) {
    const sdk = await import("./sdk.ts");
    this.#authProvider ??= await authentication(this.#params, this.#dependencies, {
      token: () => this.#token?.token,
      remember: (secret) => this.#secrets.remember(secret),
    });
    const earlier = this.#earlier;
    this.#earlier = undefined;
    this.#excess = undefined;
    const client = earlier?.client ?? this.#newClient(sdk.Client);
    const transport = await openTransport(this.#params, {
      dependencies: this.#dependencies,
      secrets: this.#secrets,
      authProvider: this.#authProvider,
      sandboxSession,
      earlier: earlier?.session,
      onExcess: (error) => {
        this.#excess = error;
        void transport.close();
      },
      onLost: () => void transport.close(),
    });
    if (this.#offersWorkspace && transport instanceof sdk.StdioTransport) {
      client.setRequestHandler("roots/list", () => transport.roots);
    }
    const { connectMs } = timeoutsOf(this.#params);
    try {
      await client.connect(transport, {
        signal,
        timeout: connectMs,
        ...(this.#generation && { prior: this.#generation }),
      });
    } catch (error) {
      await transport.close().catch(() => undefined);
      throw error;
    }
    const discover = client.getDiscoverResult();
    this.#generation = discover === undefined ? { kind: "legacy" } : { kind: "modern", discover };
    const connection = { client, transport };
    this.#live = connection;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is no event target
    client.onclose = () => {
      if (this.#live === connection) this.#open = undefined;
    };
    return connection;
  }

  /** Whether a program gets the session's workspace as its root, because no other roots are configured. */
  get #offersWorkspace(): boolean {
    return (
      this.#params.type === "StdioServerParams" && this.#requests?.capabilities.roots === undefined
    );
  }

  #newClient(make: typeof Client): Client {
    const requests = this.#requests;
    const client = new make(CLIENT, {
      capabilities: { ...requests?.capabilities, ...(this.#offersWorkspace && { roots: {} }) },
      // Servers of the older transport know only the older protocol.
      versionNegotiation: {
        mode: this.#params.type === "SseServerParams" ? "legacy" : "auto",
        ...(this.#params.type === "StdioServerParams" && {
          probe: { timeoutMs: PROGRAM_PROBE_MS },
        }),
      },
      // Answers may take days, so they are collected outside of the request.
      inputRequired: { autoFulfill: false },
      // Bounds the length of lists.
      listMaxPages: 100,
    });
    requests?.register(client);
    return client;
  }

  #lose(open: Promise<Connection>): void {
    if (this.#open === open) this.#open = undefined;
  }

  /** Closes the connection and forgets its session. */
  async #drop(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    this.#earlier = undefined;
    await (await open)?.client.close();
  }

  #closeWhenIdle(): void {
    this.#idle = setTimeout(() => void this.#closeIdle(), IDLE_MS);
    // In Node an idle connection must not keep the process alive.
    if (typeof this.#idle === "object") this.#idle.unref();
  }

  /** Closes the connection but not the session. */
  async #closeIdle(): Promise<void> {
    const open = this.#open;
    const connection = await open?.catch(() => undefined);
    if (connection === undefined || this.#users > 0 || this.#open !== open) return;
    const { client, transport } = connection;
    const { sessionId } = transport;
    this.#open = undefined;
    if (sessionId !== undefined && this.#params.type === "StreamableHttpServerParams") {
      const protocolVersion = client.getNegotiatedProtocolVersion();
      this.#earlier = { client, session: { sessionId, protocolVersion } };
    }
    await transport.close();
  }
}

async function terminate(transport: Transport): Promise<void> {
  const { StreamableHTTPClientTransport } = await import("./sdk.ts");
  if (transport instanceof StreamableHTTPClientTransport) await transport.terminateSession();
}

/** Servers answer 404 for a session they do not know; some answer 400. */
function isLostSession(error: unknown): boolean {
  if (!(error instanceof Error) || !("status" in error)) return false;
  return error.status === 404 || error.status === 400;
}

/** Whether a program or its connection ended before version negotiation. */
function endedWhenAsked(error: unknown): boolean {
  return (
    error instanceof Error && /connection closed during the server\/discover/.test(error.message)
  );
}
