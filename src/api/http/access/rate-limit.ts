import { within } from "../../../core/wait.ts";
import type { Tenants } from "../../../contract/gateways/tenant-gateway.ts";
import type { Refused } from "../../../contract/result.ts";
import { limitReached } from "../../../contract/tenant/tenant-limits.ts";

/** Tenants remembered; beyond it the one that asked longest ago is forgotten. */
const MOST_TENANTS = 10_000;
/** The time for which a tenant's own limit is remembered. */
const LIMIT_VALID_MS = 60_000;
/** The longest wait of a request for the tenant's limit. */
const PATIENCE_MS = 1_000;

interface Bucket {
  tokens: number;
  /** Epoch milliseconds. */
  at: number;
  limit: number;
  /** When the tenant was last asked for its own limit; 0 before the first time. */
  readAt: number;
}

/**
 * Requests per second of each tenant, in this isolate: a token bucket that holds one second's worth. A tenant that sends
 * requests through several places of the network has as much in each. The tenant's own limit is read once a minute, so an
 * override holds within that time.
 */
export class RequestRate {
  readonly #buckets = new Map<string, Bucket>();
  readonly #tenants: Tenants | undefined;
  readonly #limit: number;

  /** @param limit for tenants without an override */
  constructor(tenants: Tenants | undefined, limit: number) {
    this.#tenants = tenants;
    this.#limit = limit;
  }

  /** Takes one request. Resolves to a 429 `too_many_requests` where there is none left. */
  async take(tenant: string): Promise<Refused | undefined> {
    const bucket = this.#bucket(tenant, Date.now());
    if (Date.now() - bucket.readAt >= LIMIT_VALID_MS) await this.#readLimit(tenant, bucket);
    const { limit } = bucket;
    const now = Date.now();
    bucket.tokens = Math.min(limit, bucket.tokens + ((now - bucket.at) / 1000) * limit);
    bucket.at = now;
    if (bucket.tokens < 1) {
      const seconds = limit === 0 ? 60 : (1 - bucket.tokens) / limit;
      const reached = { limit: "requests_per_second", value: limit, window: 1, seconds } as const;
      return limitReached("requests", reached);
    }
    bucket.tokens -= 1;
    return undefined;
  }

  #bucket(tenant: string, now: number): Bucket {
    const limit = this.#limit;
    const bucket = this.#buckets.get(tenant) ?? { tokens: limit, at: now, limit, readAt: 0 };
    // Put last again: the first of the map is then the one that asked longest ago.
    this.#buckets.delete(tenant);
    this.#buckets.set(tenant, bucket);
    if (this.#buckets.size > MOST_TENANTS) {
      const [oldest] = this.#buckets.keys();
      if (oldest !== undefined) this.#buckets.delete(oldest);
    }
    return bucket;
  }

  /** A tenant that does not answer in time keeps the limit it had. */
  async #readLimit(tenant: string, bucket: Bucket): Promise<void> {
    // One request refreshes a known limit. An unknown one is read by each that comes before it is known: none may wait for
    // what another request does, because that one may be cancelled.
    if (bucket.readAt !== 0) bucket.readAt = Date.now();
    if (this.#tenants === undefined || tenant === "") return;
    const read = within(PATIENCE_MS, this.#tenants.tenant(tenant).limits());
    const limits = await read.catch(() => undefined);
    if (limits !== undefined) bucket.limit = limits.requests_per_second;
    bucket.readAt = Date.now();
  }
}
