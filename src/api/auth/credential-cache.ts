import type { Principal } from "./principal.ts";

/** A revoked key stops working within this time, everywhere. */
const REMEMBERED_MS = 10_000;
/** Above this number the oldest entry is removed. */
const MOST_ENTRIES = 10_000;

interface Entry {
  /** Null for a refused credential. */
  principal: Principal | null;
  until: number;
}

/** An isolate's cache of checked credentials, by hash. Refused credentials cannot displace valid ones. */
export class CredentialCache {
  readonly #valid = new Map<string, Entry>();
  readonly #refused = new Map<string, Entry>();

  /** The principal, null for a refused credential, undefined for an unknown one. */
  get(hash: string, now: number): Principal | null | undefined {
    for (const entries of [this.#valid, this.#refused]) {
      const entry = entries.get(hash);
      if (entry === undefined) continue;
      if (entry.until > now) return entry.principal;
      entries.delete(hash);
    }
    return undefined;
  }

  set(hash: string, principal: Principal | null, now: number): void {
    const expires_at = principal?.expires_at ?? null;
    const expires = expires_at === null ? Infinity : Date.parse(expires_at);
    const entries = principal === null ? this.#refused : this.#valid;
    entries.delete(hash);
    entries.set(hash, { principal, until: Math.min(now + REMEMBERED_MS, expires) });
    if (entries.size <= MOST_ENTRIES) return;
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
}
