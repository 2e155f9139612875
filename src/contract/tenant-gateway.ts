import type {
  Acknowledgement,
  Delivery,
  RequestList,
  RequestQuery,
  RunList,
  RunQuery,
  TeamList,
  TeamQuery,
} from "./directory.ts";
import type { Idempotency } from "./gateway.ts";
import type { KeyInfo, Scope } from "./key.ts";
import type { Result } from "./result.ts";
import type { PutTenant, TenantInfo, TenantLimits, TenantList } from "./tenant.ts";

export interface CreateKeyInput {
  id: string;
  name: string;
  scopes: readonly Scope[];
  /** SHA-256 of the key, hex. */
  hash: string;
  /** Seconds; null: it does not expire. */
  expires_in: number | null;
}

/** One tenant, as the HTTP layer sees it. Asking about a tenant of which nothing is stored writes nothing. */
export interface TenantGateway {
  info(): Promise<Result<TenantInfo>>;
  put(input: PutTenant): Promise<Result<TenantInfo>>;
  /** Begins to erase everything of the tenant; goes on by itself. */
  destroy(): Promise<Result<null>>;
  /** The limits that hold, overrides included. */
  limits(): Promise<TenantLimits>;

  createKey(input: CreateKeyInput): Promise<Result<KeyInfo>>;
  keys(): Promise<KeyInfo[]>;
  revokeKey(id: string): Promise<Result<null>>;
  /** The key, if this is its hash and it has not expired. */
  verifyKey(id: string, hash: string): Promise<KeyInfo | null>;

  /** Takes the id of a team that is about to be created; an idempotency key answers the id it was given first. */
  reserve(input: { id: string; idempotency?: Idempotency }): Promise<Result<{ id: string }>>;
  teams(query: TeamQuery): Promise<Result<TeamList>>;
  runs(query: RunQuery): Promise<Result<RunList>>;
  requests(query: RequestQuery): Promise<Result<RequestList>>;
  /** Server-sent events of what changes; null: only what comes from now on. */
  events(after: number | null): Promise<ReadableStream<Uint8Array>>;
}

/** The side of a tenant that its teams see. */
export interface DirectoryInbox {
  deliver(delivery: Delivery): Promise<Acknowledgement>;
}

/** Finds tenants. */
export interface Tenants {
  tenant(id: string): TenantGateway;
  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
}
