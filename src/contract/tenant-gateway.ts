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

/** One tenant, as the HTTP layer sees it. Asking about a tenant without stored data writes nothing. */
export interface TenantGateway {
  info(): Promise<Result<TenantInfo>>;
  put(input: PutTenant): Promise<Result<TenantInfo>>;
  /** The limits that hold, overrides included. */
  limits(): Promise<TenantLimits>;

  createKey(input: CreateKeyInput): Promise<Result<KeyInfo>>;
  keys(): Promise<KeyInfo[]>;
  revokeKey(id: string): Promise<Result<null>>;
  /** The key, if this is its hash and it has not expired. */
  verifyKey(id: string, hash: string): Promise<KeyInfo | null>;
}

/** Finds tenants. */
export interface Tenants {
  tenant(id: string): TenantGateway;
  list(page: { limit: number; cursor?: string }): Promise<Result<TenantList>>;
}
