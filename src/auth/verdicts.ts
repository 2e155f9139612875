import type { Principal } from "./principal.ts";

/** A revoked key stops working within this time, everywhere. */
const REMEMBERED_MS = 10_000;
/** Beyond it the oldest verdict is forgotten. */
const MOST_VERDICTS = 10_000;

interface Verdict {
  /** Null: refused. */
  principal: Principal | null;
  until: number;
}

/** An isolate's cache of checked credentials, by hash. Refusals cannot push out what is valid. */
export class Verdicts {
  readonly #valid = new Map<string, Verdict>();
  readonly #refused = new Map<string, Verdict>();

  /** The principal, null for a refused credential, undefined for one that is not known. */
  get(hash: string, now: number): Principal | null | undefined {
    for (const verdicts of [this.#valid, this.#refused]) {
      const verdict = verdicts.get(hash);
      if (verdict === undefined) continue;
      if (verdict.until > now) return verdict.principal;
      verdicts.delete(hash);
    }
    return undefined;
  }

  set(hash: string, principal: Principal | null, now: number): void {
    const expires_at = principal?.expires_at ?? null;
    const expires = expires_at === null ? Infinity : Date.parse(expires_at);
    const verdicts = principal === null ? this.#refused : this.#valid;
    verdicts.delete(hash);
    verdicts.set(hash, { principal, until: Math.min(now + REMEMBERED_MS, expires) });
    if (verdicts.size <= MOST_VERDICTS) return;
    const [oldest] = verdicts.keys();
    if (oldest !== undefined) verdicts.delete(oldest);
  }
}
