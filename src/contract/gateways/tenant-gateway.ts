import type {
  Acknowledgement,
  ConversationRunList,
  ConversationRunQuery,
  Delivery,
  RunList,
  RunQuery,
  TeamList,
  TeamQuery,
} from "../directory.ts";
import type { StreamCaller } from "./team-gateway.ts";
import type { Idempotency } from "../common.ts";
import type { Scope } from "../constants.ts";
import type { LoginAnswer, LoginChallenge } from "../../core/steps/server-logins.ts";
import type { ConnectionInfo, CreateConnection, StartedConnection } from "../tenant/connection.ts";
import type { KeyInfo } from "../tenant/key.ts";
import type { Result } from "../result.ts";
import type { UsageQuery, UsageReport } from "../usage/usage-report.ts";
import type { TenantLimits } from "../tenant/tenant.ts";
import type { PutTenant, TenantInfo, TenantList } from "../tenant/tenant.ts";
import type { ObjectCalls } from "../commands/command.ts";
import type { TenantCommands } from "../commands/commands.ts";
import type { PutWebhook, PutWebhookAnswer, WebhookInfo } from "../webhooks/webhook.ts";

export interface CreateKeyInput {
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** SHA-256 of the key, hex. */
  hash: string;
  /** Seconds; null: it does not expire. */
  expires_in: number | null;
}

/** What a protocol's client has set in its session. */
export interface ProtocolSession {
  /** The lowest level of log messages that it wants; null for none. */
  level: string | null;
  /** What it subscribed to. */
  subjects: readonly string[];
}

export interface SessionChange {
  level?: string;
  add?: string;
  remove?: string;
  /** Subscriptions that a session may have. */
  most: number;
}

/**
 * One tenant, as the HTTP layer sees it: its commands, and the calls from which other commands are composed.
 * Reading a tenant without stored data writes nothing.
 */
export interface TenantGateway
  extends ObjectCalls<TenantCommands, "tenant">, Pick<TenantOfMemories, "memoryNames"> {
  put(input: PutTenant): Promise<Result<TenantInfo>>;
  /** The effective limits, overrides included. */
  limits(): Promise<TenantLimits>;

  createKey(input: CreateKeyInput): Promise<Result<KeyInfo>>;
  /** The key, if the hash matches and it has not expired. */
  verifyKey(id: string, hash: string): Promise<KeyInfo | null>;
  /**
   * Waits until a key is revoked. The tenant is not kept in memory meanwhile.
   *
   * @returns whether it was; false when the tenant was restarted, or the signal aborts
   */
  keyEnds(id: string, signal: AbortSignal): Promise<boolean>;

  /** Begins a login. @param by who begins it, and the address at which they reach the service */
  startConnection(
    input: CreateConnection,
    by: { baseUrl: string; credential: string },
  ): Promise<Result<StartedConnection>>;
  /** Ends a login with what the browser of a human has brought back. */
  redeemLogin(back: LoginReturn): Promise<Result<ConnectionInfo>>;

  /** The answer to a new webhook has its secret. */
  putWebhook(id: string, input: PutWebhook): Promise<Result<PutWebhookAnswer>>;
  webhooks(): Promise<WebhookInfo[]>;

  /** Null for a session in which nothing was set, or not in the last seven days. */
  session(id: string): Promise<ProtocolSession | null>;
  changeSession(id: string, change: SessionChange): Promise<Result<null>>;

  /** Reserves the id of a team that is about to be created; an idempotency key is answered with the id of its first request. */
  reserve(input: Reservation): Promise<Result<{ id: string }>>;
  /** Removes a team from the lists that cannot report its own deletion. Returns whether it was listed. */
  forget(team: string): Promise<boolean>;
  teams(query: TeamQuery): Promise<Result<TeamList>>;
  runs(query: RunQuery): Promise<Result<RunList>>;
  /** The team of a listed run; null for one that is not listed. */
  teamOfRun(run: string): Promise<string | null>;
  conversationRuns(query: ConversationRunQuery): Promise<Result<ConversationRunList>>;
  usageReport(query: UsageQuery): Promise<Result<UsageReport>>;
  /**
   * Server-sent events of changes in the lists.
   *
   * @param after null: only changes from now on
   * @param runs whether to send changes of runs and requests in addition to those of teams
   */
  events(
    after: number | null,
    runs: boolean,
    caller: StreamCaller,
  ): Promise<Result<ReadableStream<Uint8Array>>>;
}

export interface Reservation {
  id: string;
  /** Label of the tenant, if this call creates it. */
  tenant_label?: string;
  idempotency?: Idempotency;
}

/** A tenant as its teams see it. */
export interface TenantOfTeam {
  /** Applies a team's entries. */
  deliver(delivery: Delivery): Promise<Acknowledgement>;
  /** Whether a team may start a run or have this many streams open. */
  admit(request: AdmissionRequest): Promise<Result<Admitted>>;
  /** An access token for an MCP server, or a login that the run has to wait for. */
  token(wanted: LoginWanted): Promise<Result<LoginAnswer>>;
}

/** A server wants a login of a run. */
export interface LoginWanted extends LoginChallenge {
  team: string;
  run: string;
  /** The question of the run that the login answers. */
  request: string;
}

/** What a browser brings back from a login. */
export interface LoginReturn {
  state: string;
  code: string | null;
  iss: string | null;
  /** The error code of the authorization server, instead of a code. */
  error: string | null;
}

/** A tenant as the objects of its memories see it. Their names are those without the tenant: `collection/handbook`. */
export interface TenantOfMemories {
  /** Records that an object exists, so that deleting the tenant erases it. */
  noteMemories(name: string): Promise<Result<null>>;
  /** Forgets an object that stores nothing any more. */
  dropMemories(name: string): Promise<void>;
  /** The names with this beginning, in their order. */
  memoryNames(query: {
    prefix: string;
    limit: number;
    cursor?: string;
  }): Promise<Result<{ names: string[]; next_cursor: string | null }>>;
}

/** Settings of its tenant that a team needs. */
export interface Admitted {
  limits: TenantLimits;
  /** Whether a webhook subscribes to the team's messages. */
  messages: boolean;
}

export interface AdmissionRequest {
  team: string;
  /** A run is about to start; `beside` another run of the team, which it follows or replaces. */
  run?: "alone" | "beside";
  /** The streams the team would hold open. */
  streams?: number;
}

/** Finds tenants. */
export interface Tenants {
  tenant(id: string): TenantGateway;
  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
}
