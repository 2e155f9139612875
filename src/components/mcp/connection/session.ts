import type {
  AuthProvider,
  Client,
  OAuthClientProvider,
  PriorDiscovery,
  Transport,
} from "@modelcontextprotocol/client";
import type { HeldLogin, ServerLogins } from "../../../core/steps/server-logins.ts";
import type { RunContext } from "../../../core/turn/run-context.ts";
import { within } from "../../../core/wait.ts";
import type { Secrets } from "../../../outgoing/dependencies.ts";
import { challengeOf, LoginNeededError, noLogins } from "./challenge.ts";
import { authentication } from "./authentication.ts";
import { type LeftOut, ServerMessages } from "../answers/server-messages.ts";
import { type McpError, mcpError } from "../answers/mcp-error.ts";
import { type McpServerConfig, serverName, timeoutsOf } from "./server-params.ts";
import type { McpDependencies } from "./dependencies.ts";
import { type EarlierSession, openTransport, secretsOf } from "./transport.ts";

/**
 * Milliseconds without requests after which a connection is closed: an open one would keep the team's object in memory.
 * A session of Streamable HTTP continues with the next connection; other servers start from scratch.
 */
const IDLE_MS = 60_000;

/** Time limit for version negotiation: a program that is still starting also answers the older handshake. */
const PROGRAM_PROBE_MS = 5_000;

/** The longest wait of a closed connection for notifications that are under way. */
const NOTIFICATION_MS = 2_000;

/** Entries of a list that a note names. */
const MOST_NAMED = 10;

const CLIENT = { name: "troupe", version: "1" };

/** The requests that the server may make to its client, and their handlers. */
export interface ServerRequests {
  readonly capabilities: {
    sampling?: Record<string, never>;
    elicitation?: { form: Record<string, never>; url: Record<string, never> };
    roots?: Record<string, never>;
  };
  register(client: Client): void;
}

export interface SessionOptions {
  requests?: ServerRequests | undefined;
  /** The run whose values the headers have. Undefined outside of a run. */
  run?: RunContext | undefined;
}

export interface SessionUse {
  signal: AbortSignal;
  /** The sandbox session in which a stdio server runs. Default: a session of this object. */
  sandboxSession?: string | undefined;
  /** The logins of the run, and the id of the question that asks a human for one. */
  logins?: { host: ServerLogins; question: string } | undefined;
}

/** A connection in use. */
interface Connection {
  client: Client;
  transport: Transport;
  notifications: SentNotifications;
}

/** The notifications that a transport is sending, such as that a call is cancelled: the SDK does not wait for them. */
class SentNotifications {
  readonly #underWay = new Set<Promise<void>>();

  constructor(transport: Transport) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const sent = send(message, options);
      if (!("id" in message)) this.#add(sent.catch(() => undefined));
      return sent;
    };
  }

  /** Resolves when none is under way, or after a while. */
  async sent(): Promise<void> {
    await within(NOTIFICATION_MS, Promise.all(this.#underWay)).catch(() => undefined);
  }

  #add(sent: Promise<void>): void {
    this.#underWay.add(sent);
    void sent.finally(() => this.#underWay.delete(sent));
  }
}

/**
 * The connection to an MCP server. It is opened on demand, shared by concurrent requests, closed when idle, and opened
 * again when it was lost.
 */
export class McpSession {
  readonly #params: McpServerConfig;
  readonly #dependencies: McpDependencies;
  readonly #requests: ServerRequests | undefined;
  readonly #run: RunContext | undefined;
  readonly #secrets: Secrets;
  readonly #ownSandboxSession = crypto.randomUUID();
  readonly #leftOut: LeftOut = new Map();
  #open: Promise<Connection> | undefined;
  /** The connection that was opened last. */
  #live: Connection | undefined;
  /** The client of a connection that was closed when idle, and its session at the server. */
  #earlier: { client: Client; session: EarlierSession } | undefined;
  #authProvider: OAuthClientProvider | AuthProvider | undefined;
  /** The login that the connection uses, as its host has given it out. It belongs to the host: a human may end it at any time. */
  #login: (HeldLogin & { fresh: boolean }) | undefined;
  /** The owner of the logins that the connection may use; undefined before the first request. */
  #user: string | null | undefined;
  /** The last check of the login: one at a time. */
  #checked: Promise<void> = Promise.resolve();
  /** The protocol generation of the server, once known: it saves the negotiation at the next connection. */
  #generation: PriorDiscovery | undefined;
  /** Why the current connection had to be closed. */
  #excess: McpError | undefined;
  /** The last answer that refused a request. */
  #refusal: Pick<Response, "status" | "headers"> | undefined;
  #users = 0;
  #idle: ReturnType<typeof setTimeout> | undefined;

  constructor(
    params: McpServerConfig,
    dependencies: McpDependencies,
    { requests, run }: SessionOptions = {},
  ) {
    this.#params = params;
    this.#dependencies = dependencies;
    this.#requests = requests;
    this.#run = run;
    this.#secrets = secretsOf(params, dependencies);
  }

  /** True while requests are under way. */
  get isInUse(): boolean {
    return this.#users > 0;
  }

  /** The name of the server in messages. */
  get server(): string {
    return serverName(this.#params);
  }

  /** True if the server is a program to which the sandbox gives no network. */
  get lacksNetwork(): boolean {
    const { transport } = this.#live ?? {};
    return transport !== undefined && "network" in transport && transport.network === false;
  }

  /** A sentence about the unusable entries of this method's last list. */
  leftOut(method: string): string | undefined {
    const entries = this.#leftOut.get(method) ?? [];
    if (entries.length === 0) return undefined;
    const others = entries.length - MOST_NAMED;
    const named = entries.slice(0, MOST_NAMED).join(", ");
    const more = others > 0 ? `, and ${others} more` : "";
    const text = `The MCP server "${this.server}" lists entries that cannot be used and are left out: ${named}${more}.`;
    return this.redact(text);
  }

  /** `text` without the secrets that were sent to the server. */
  redact(text: string): string {
    return this.#secrets.redact(text);
  }

  /**
   * Runs requests over a connection. When the server no longer knows the session of an earlier request, they are sent
   * again in a new session, because the server has not handled them. Nor has it handled those that it refuses for want of
   * a login: they are sent again with a token of the run's login.
   *
   * @param run gets the client and the milliseconds for an answer
   * @throws McpError, LoginNeededError, TroupeError of the rules for outgoing requests, the signal's reason
   */
  async use<T>(use: SessionUse, run: (client: Client, answerMs: number) => Promise<T>): Promise<T> {
    const { answerMs } = timeoutsOf(this.#params);
    clearTimeout(this.#idle);
    this.#users++;
    try {
      await this.#renewLogin(use);
      return await this.#loggedIn(use, () =>
        this.#inSession(use, (client) => run(client, answerMs)),
      );
    } catch (error) {
      use.signal.throwIfAborted();
      throw mcpError(this.#excess ?? error, this.server, this.#secrets, this.#refusal);
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

  /**
   * Asks the host whether the login is still the one of this session: it is a copy of a right that may have been called back,
   * or now be another person's. A connection that was opened with another login, or for another user, is closed, because the
   * server's session belongs to whoever opened it.
   */
  #renewLogin({ logins }: SessionUse): Promise<void> {
    const check = async (): Promise<void> => {
      if (logins === undefined || this.#params.type === "StdioServerParams") return;
      const { host } = logins;
      const isOther = this.#user !== undefined && this.#user !== host.user;
      this.#user = host.user;
      if (this.#login === undefined && !isOther) return;
      const held = await host.held(this.#params.url);
      const isSame = !isOther && held !== undefined && held.login === this.#login?.login;
      if (!isSame) await this.#drop();
      this.#take(held && { ...held, fresh: false });
    };
    this.#checked = this.#checked.then(check, check);
    return this.#checked;
  }

  #take(login: (HeldLogin & { fresh: boolean }) | undefined): void {
    if (login !== undefined) this.#secrets.remember(login.token);
    this.#login = login;
  }

  /** Sends requests again with a token of the host's when the server wants a login. Ends when the host has no other one. */
  async #loggedIn<T>({ logins }: SessionUse, send: () => Promise<T>): Promise<T> {
    for (;;) {
      const used = this.#login;
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
        if ("needed" in answer) {
          const { user } = logins.host;
          throw new LoginNeededError(server, { user, url: answer.needed.url });
        }
        this.#take(answer);
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
    const { client, transport, notifications } = connection;
    await notifications.sent();
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
      token: () => this.#login?.token,
      remember: (secret) => this.#secrets.remember(secret),
    });
    const earlier = this.#earlier;
    this.#earlier = undefined;
    this.#excess = undefined;
    const client = earlier?.client ?? this.#newClient(sdk.Client);
    const transport = await openTransport(this.#params, {
      dependencies: this.#dependencies,
      secrets: this.#secrets,
      run: this.#run,
      messages: new ServerMessages(this.#leftOut),
      authProvider: this.#authProvider,
      sandboxSession,
      earlier: earlier?.session,
      onExcess: (error) => {
        this.#excess = error;
        void transport.close();
      },
      onRefused: ({ status, headers }) => {
        this.#refusal = { status, headers };
      },
      onLost: () => void transport.close(),
    });
    if (this.#offersWorkspace && transport instanceof sdk.StdioTransport) {
      client.setRequestHandler("roots/list", () => transport.roots);
    }
    const notifications = new SentNotifications(transport);
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
    const connection = { client, transport, notifications };
    this.#live = connection;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client is not an event target
    client.onclose = () => {
      if (this.#live === connection) this.#open = undefined;
    };
    return connection;
  }

  /** True if a program gets the session's workspace as its root, because no other roots are configured. */
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

/** True if a program or its connection ended before version negotiation. */
function endedWhenAsked(error: unknown): boolean {
  return (
    error instanceof Error && /connection closed during the server\/discover/.test(error.message)
  );
}
