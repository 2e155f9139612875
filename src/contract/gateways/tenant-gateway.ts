import type {
  Acknowledgement,
  ConversationRunList,
  ConversationRunQuery,
  Delivery,
  RequestList,
  RequestQuery,
  RunList,
  RunQuery,
  TeamList,
  TeamQuery,
} from "../directory.ts";
import type { FailureList, FailureQuery } from "../run-failures.ts";
import type { LoginSight } from "./login-sight.ts";
import type { JsonObject } from "../../core/json.ts";
import type { StreamCaller } from "./team-gateway.ts";
import type { Idempotency } from "../common.ts";
import type { Scope } from "../constants.ts";
import type { HeldLogin, LoginAnswer, LoginChallenge } from "../../core/steps/server-logins.ts";
import type {
  ConnectionInfo,
  ConnectionList,
  CreateConnection,
  StartedConnection,
} from "../tenant/connection.ts";
import type { CostAnswer, CostClaim } from "../tenant/cost-claim.ts";
import type { KeyInfo, ListedToken } from "../tenant/key.ts";
import type { TokenMaker } from "../common.ts";
import type { Refused, Result } from "../result.ts";
import type { UsageQuery, UsageReport } from "../usage/usage-report.ts";
import type { TenantLimits } from "../tenant/tenant.ts";
import { type FileCalls, REPEATABLE_FILE_CALLS } from "../tenant/kept-file.ts";
import { REPEATABLE_TRIGGER_CALLS, type TriggerCalls } from "./trigger-gateway.ts";
import type { PutTenant, TenantInfo, TenantList } from "../tenant/tenant.ts";
import type { ObjectCalls } from "../commands/command.ts";
import type { TenantCommands } from "../commands/commands.ts";
import type { GivenReceivers, NotifyInfo } from "../notify.ts";
import type { PutTeamTool, TeamTool } from "../team-tool.ts";
import type { SkillContent, SkillInfo } from "../tenant/skill.ts";
import type { SkillFile } from "../../core/skills/skill-files.ts";
import type { OpenSkill, SkillSummary } from "../../core/skills/skill-source.ts";
import type { PutWebhook, PutWebhookAnswer, WebhookInfo } from "../webhook.ts";

export interface CreateKeyInput {
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** SHA-256 of the key, hex. */
  hash: string;
  /** Seconds; null: it does not expire. */
  expires_in: number | null;
}

/** A team token without its secret, as its tenant records it. */
export interface TokenRecord extends Omit<ListedToken, "kind" | "request_id"> {
  /** The creation of the team; a later team with the same id has another one. */
  creation: string;
  /** The id of the caller that made it. */
  maker: string;
  /** The key with which it ends; null for none. */
  ends_with: TokenMaker | null;
  /** Epoch milliseconds. */
  made_at: number;
  /** For a link that answers one request, and nothing else. */
  answers?: LinkedAnswer;
}

/** The only right of a link that answers. */
export interface LinkedAnswer {
  request: string;
  /** The receiver that it was sent to, as answers name it. */
  receiver: string;
  /** SHA-256 of the link's secret, hex. */
  hash: string;
}

/** The settings of a protocol's client in its session. */
export interface ProtocolSession {
  /** The lowest level of log messages that it wants; null for none. */
  level: string | null;
  /** The subscriptions of the session. */
  subjects: readonly string[];
}

export interface SessionChange {
  level?: string;
  add?: string;
  remove?: string;
  /** Subscriptions that a session may have. */
  most: number;
}

/** The lists of which a watcher gets the changes: teams, with runs and questions, or questions alone. */
export type WatchedChanges = "teams" | "all" | "requests";

/**
 * One tenant, as the HTTP layer sees it: its commands, and the calls from which other commands are composed.
 * Reading a tenant without stored data writes nothing.
 */
export interface TenantGateway
  extends
    ObjectCalls<TenantCommands, "tenant">,
    TriggerCalls,
    FileCalls,
    Pick<TenantOfMemories, "memoryNames" | "dropMemories"> {
  put(input: PutTenant): Promise<Result<TenantInfo>>;
  /** The effective limits, overrides included. */
  limits(): Promise<TenantLimits>;

  createKey(input: CreateKeyInput): Promise<Result<KeyInfo>>;
  /** The key, if the hash matches and it has not expired. */
  verifyKey(id: string, hash: string): Promise<KeyInfo | null>;
  /** True if there is such a key that has not expired. */
  hasKey(id: string): Promise<boolean>;
  /** Records a token of a team, as long as the tenant may have more. */
  addToken(team: string, token: TokenRecord): Promise<Result<null>>;
  /** The record of a token; null for one that is not recorded or has expired. */
  tokenRecord(team: string, id: string): Promise<TokenRecord | null>;
  /** The tokens of the team with this creation, newest first. */
  tokens(
    team: { id: string; creation: string },
    page: { limit: number; cursor?: string },
  ): Promise<Result<{ tokens: TokenRecord[]; next_cursor: string | null }>>;
  /** Forgets the tokens of a team that were revoked: the one with this id, or all that were made until then (epoch milliseconds). */
  dropTokens(team: string, revoked: { id: string } | { made_until: number }): Promise<void>;
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
  /** By user and server. */
  connections(query: ConnectionQuery): Promise<Result<ConnectionList>>;
  /**
   * Forgets a login with its tokens, and has the authorization server revoke them where it can.
   *
   * @param users see {@link ConnectionQuery}
   */
  deleteConnection(id: string, users: ConnectionQuery["users"]): Promise<Result<null>>;
  /** The content of a login's page. @param ticket the one in the address of the page */
  loginPage(ticket: string): Promise<Result<LoginPage>>;
  /** The human wants to continue. The answer of the authorization server has to come back to the same browser. */
  continueLogin(ticket: string): Promise<Result<ContinuedLogin>>;
  /** Ends a login with what the browser of a human has brought back. */
  redeemLogin(back: LoginReturn): Promise<Result<ConnectionInfo>>;

  /** The answer to a new webhook has its secret. */
  putWebhook(id: string, input: PutWebhook): Promise<Result<PutWebhookAnswer>>;
  webhooks(): Promise<WebhookInfo[]>;

  /** Replaces the receivers of messages about a team. */
  putNotify(team: string, given: GivenReceivers): Promise<Result<NotifyInfo>>;
  notify(team: string): Promise<NotifyInfo>;
  /** Forgets the receivers of a team that was deleted. */
  dropNotify(team: string): Promise<void>;
  /** Stores a version, unless the newest has equal files. */
  putSkill(name: string, content: SkillContent): Promise<Result<SkillInfo & { created: boolean }>>;
  /** The bytes of a file. @param version null: the newest */
  skillBytes(
    name: string,
    version: number | null,
    path: string,
  ): Promise<Result<Uint8Array<ArrayBuffer>>>;
  /** Those of these names that are skills. */
  knownSkills(names: readonly string[]): Promise<string[]>;

  /** Null for a session in which nothing was set, or not in the last seven days. */
  session(id: string): Promise<ProtocolSession | null>;
  changeSession(id: string, change: SessionChange): Promise<Result<null>>;

  /** Sets the own tool of a team. Refused for a name that another team has, or that Troupe's own tools have. */
  putTool(team: string, tool: PutTeamTool): Promise<Result<TeamTool>>;
  /** Null for a team without one. */
  tool(team: string): Promise<TeamTool | null>;
  deleteTool(team: string): Promise<Result<null>>;
  /** The own tools of teams by name. @property team_user only those of the teams of this user */
  tools(query: { after: string; limit: number; team_user?: string }): Promise<ToolOfTeam[]>;
  toolNamed(name: string): Promise<ToolOfTeam | null>;

  /** Reserves the id of a team that is about to be created; an idempotency key is answered with the id of its first request. */
  reserve(input: Reservation): Promise<Result<{ id: string }>>;
  /**
   * Removes a team from the lists that cannot report its own deletion.
   *
   * @param user only if it belongs to this user
   * @returns whether it was listed
   */
  forget(team: string, user?: string): Promise<boolean>;
  teams(query: TeamQuery): Promise<Result<TeamList>>;
  runs(query: RunQuery): Promise<Result<RunList>>;
  failures(query: FailureQuery): Promise<Result<FailureList>>;
  /** @param sight the logins whose addresses the caller may be given; left out, none */
  requests(query: RequestQuery, sight?: LoginSight): Promise<Result<RequestList>>;
  /** The team of a listed run; null for one that is not listed. */
  teamOfRun(run: string): Promise<string | null>;
  conversationRuns(query: ConversationRunQuery): Promise<Result<ConversationRunList>>;
  usageReport(query: UsageQuery): Promise<Result<UsageReport>>;
  /**
   * Opens a socket for responses of OpenAI's API.
   *
   * @param caller the principal in whose name they are made
   * @param origin the address at which it reaches the service
   */
  responseSocket(caller: JsonObject, origin: string): Promise<Result<Response>>;
  /**
   * Server-sent events of changes in the lists.
   *
   * @param after null: only changes from now on
   * @param changes the lists that are watched
   */
  events(
    after: number | null,
    changes: WatchedChanges,
    caller: StreamCaller,
  ): Promise<Result<ReadableStream<Uint8Array>>>;
}

/** An own tool, and the team that has it. */
export interface ToolOfTeam {
  team: string;
  tool: TeamTool;
}

export interface Reservation {
  id: string;
  /** The own tool of the new team. `isCopy`: under the next free name, if another team has its name. */
  tool?: { tool: PutTeamTool; isCopy: boolean };
  /** Label of the tenant, if this call creates it. */
  tenant_label?: string;
  idempotency?: Idempotency;
}

/** A tenant as its teams see it. */
export interface TenantOfTeam {
  /** Applies a team's entries. */
  deliver(delivery: Delivery): Promise<Acknowledgement>;
  /** Admits a run of a team, or its open streams. */
  admit(request: AdmissionRequest): Promise<Result<Admitted>>;
  /** Admits a model call of a team within the tenant's budgets in money; also reports that one has ended. */
  claim(claim: CostClaim): Promise<Result<CostAnswer>>;
  /** An access token for an MCP server, or a login that the run has to wait for. */
  token(wanted: LoginWanted): Promise<Result<LoginAnswer>>;
  /** The login at a server as it is now; null without one. */
  login(key: LoginKey): Promise<Result<HeldLogin | null>>;
  /** The skills with these names; null for unknown ones. Their pins are hashes of versions. */
  findSkills(names: readonly string[]): Promise<(SkillSummary | null)[]>;
  openSkill(name: string, pin: string): Promise<Result<OpenSkill>>;
  skillFile(name: string, pin: string, path: string): Promise<Result<Uint8Array<ArrayBuffer>>>;
  skillFiles(name: string, pin: string): Promise<Result<SkillFile[]>>;
}

/** The server and the user of a login. */
export interface LoginKey {
  /** The address of the server. */
  server: string;
  /** The owner of the login; null for the tenant's. */
  user: string | null;
}

/** An MCP server requires a login. */
export interface LoginWanted extends LoginChallenge {
  /** The run's; null for none. */
  user: string | null;
  team: string;
  run: string;
  /** The question of the run that the login answers. */
  request: string;
}

export interface ConnectionQuery {
  /** The owners of the logins on the page, null for the tenant's; left out, those of all. */
  users?: readonly (string | null)[] | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** The question to a human before a login. */
export interface LoginPage extends LoginKey {
  tenant: string;
  /** The origin of the authorization server. */
  issuer: string;
}

/** The browser's next address, and the cookie that it has to bring back. */
export interface ContinuedLogin {
  url: string;
  cookie: LoginCookie;
}

export interface LoginCookie {
  name: string;
  value: string;
  /** True if the browser comes back to an https:// address. */
  secure: boolean;
}

/** The parameters and cookies that a browser brings back from a login. */
export interface LoginReturn {
  state: string;
  /** The authorization server that the address names (`issuerName`); null for the address without a name. */
  callback: string | null;
  /** The header `Cookie`. */
  cookies: string;
  code: string | null;
  iss: string | null;
  /** The error code of the authorization server, instead of a code. */
  error: string | null;
}

/** The size of the data in an object of memories. */
export interface StoredMemories {
  bytes: number;
  /** True without any memory: its user does not count. */
  empty: boolean;
}

/** A tenant as the objects of its memories see it. Their names are those without the tenant: `collection/handbook`. */
export interface TenantOfMemories {
  /**
   * Records an object before it stores something, so that deleting the tenant erases it. Refused over the tenant's limits.
   *
   * @param stored what it stores already; `empty` if it is not about to store contents, which is never over a limit
   */
  noteMemories(name: string, stored: StoredMemories): Promise<Result<null>>;
  /** Why an object that stores nothing would be refused; null if it would not. Records nothing. */
  refuseMemories(name: string): Promise<Refused | null>;
  /** Records what an object stores after a change. */
  memoriesChanged(name: string, stored: StoredMemories): Promise<void>;
  /** Forgets an object that stores nothing any more. @returns whether it was known */
  dropMemories(name: string): Promise<boolean>;
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
  /** True if a webhook subscribes to the team's messages. */
  messages: boolean;
}

export interface AdmissionRequest {
  team: string;
  /** A run is about to start; `beside` another run of the team, which it follows or replaces. */
  run?: "alone" | "beside";
  /** The streams the team would hold open. */
  streams?: number;
}

/** Calls of a tenant that may be made twice: they read, or change nothing the second time. */
export const REPEATABLE_TENANT_CALLS = [
  "info",
  "put",
  "limits",
  "keys",
  "verifyKey",
  "hasKey",
  "tokenRecord",
  "tokens",
  "dropTokens",
  "connections",
  "loginPage",
  "webhooks",
  "webhook",
  "webhookDeliveries",
  "putNotify",
  "notify",
  "dropNotify",
  "session",
  "reserve",
  "putTool",
  "tool",
  "tools",
  "toolNamed",
  "teams",
  "runs",
  "failures",
  "requests",
  "teamOfRun",
  "conversationRuns",
  "usageReport",
  "memoryNames",
  ...REPEATABLE_TRIGGER_CALLS,
  ...REPEATABLE_FILE_CALLS,
  "putSkill",
  "listSkills",
  "getSkill",
  "skillVersions",
  "skillBytes",
  "knownSkills",
] as const satisfies readonly (keyof TenantGateway)[];

export const REPEATABLE_CALLS_OF_TEAMS = [
  // Entries are applied once, by their numbers.
  "deliver",
  // A claim takes the place of the team's last one.
  "claim",
  "login",
  "findSkills",
  "openSkill",
  "skillFile",
  "skillFiles",
] as const satisfies readonly (keyof TenantOfTeam)[];

export const REPEATABLE_CALLS_OF_MEMORIES = [
  "noteMemories",
  "refuseMemories",
  "memoriesChanged",
  "dropMemories",
  "memoryNames",
] as const satisfies readonly (keyof TenantOfMemories)[];

/** Finds tenants. */
export interface Tenants {
  tenant(id: string): TenantGateway;
  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
  /** Records the hash that stands for a tenant in e-mail addresses. */
  noteHash(hash: string, tenant: string): Promise<void>;
  /** The tenant for which a hash stands; null for none. */
  ofHash(hash: string): Promise<string | null>;
}
