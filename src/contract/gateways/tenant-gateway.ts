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
import type { Idempotency, StreamCaller } from "./team-gateway.ts";
import type { Scope } from "../constants.ts";
import type { KeyInfo, KeyPage } from "../key.ts";
import type { Result } from "../result.ts";
import type { UsageQuery, UsageReport } from "../usage/usage-report.ts";
import type { TenantLimits } from "../tenant.ts";
import type { PutTenant, TenantInfo, TenantList } from "../tenant.ts";
import type { WebhookGateway } from "./webhook-gateway.ts";

export interface CreateKeyInput {
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** SHA-256 of the key, hex. */
  hash: string;
  /** Seconds; null: it does not expire. */
  expires_in: number | null;
}

/** One tenant, as the HTTP layer sees it. Asking about a tenant without stored data writes nothing. */
export interface TenantGateway extends WebhookGateway {
  info(): Promise<Result<TenantInfo>>;
  put(input: PutTenant): Promise<Result<TenantInfo>>;
  /** Begins to delete everything of the tenant; it goes on by itself. */
  destroy(): Promise<Result<null>>;
  /** The limits that hold, overrides included. */
  limits(): Promise<TenantLimits>;

  createKey(input: CreateKeyInput): Promise<Result<KeyInfo>>;
  keys(page: { limit: number; cursor?: string }): Promise<Result<KeyPage>>;
  revokeKey(id: string): Promise<Result<null>>;
  /** The key, if this is its hash and it has not expired. */
  verifyKey(id: string, hash: string): Promise<KeyInfo | null>;

  /** Reserves the id of a team that is about to be created; an idempotency key is answered with the id of its first request. */
  reserve(input: Reservation): Promise<Result<{ id: string }>>;
  /** Takes a team off the lists that cannot tell of its deletion. Returns whether it was listed. */
  forget(team: string): Promise<boolean>;
  teams(query: TeamQuery): Promise<Result<TeamList>>;
  runs(query: RunQuery): Promise<Result<RunList>>;
  conversationRuns(query: ConversationRunQuery): Promise<Result<ConversationRunList>>;
  requests(query: RequestQuery): Promise<Result<RequestList>>;
  usageReport(query: UsageQuery): Promise<Result<UsageReport>>;
  /**
   * Server-sent events of what changes in the lists.
   *
   * @param after null: only what changes from now on
   * @param runs whether changes of runs and requests are sent, too, or only those of teams
   */
  events(
    after: number | null,
    runs: boolean,
    caller: StreamCaller,
  ): Promise<Result<ReadableStream<Uint8Array>>>;
}

export interface Reservation {
  id: string;
  /** Of the tenant, if this creates it. */
  tenant_label?: string;
  idempotency?: Idempotency;
}

/** A tenant as its teams see it. */
export interface TenantOfTeam {
  /** Applies a team's entries. */
  deliver(delivery: Delivery): Promise<Acknowledgement>;
  /** Whether a team may start a run or hold open so many streams. */
  admit(request: AdmissionRequest): Promise<Result<Admitted>>;
}

/** What a team has to know of its tenant. */
export interface Admitted {
  limits: TenantLimits;
  /** Whether a webhook wants to be told of the team's messages. */
  messages: boolean;
}

export interface AdmissionRequest {
  team: string;
  /** A run is about to start; `beside` another one of the team, which it follows or replaces. */
  run?: "alone" | "beside";
  /** The streams the team would hold open. */
  streams?: number;
}

/** Finds tenants. */
export interface Tenants {
  tenant(id: string): TenantGateway;
  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
}
