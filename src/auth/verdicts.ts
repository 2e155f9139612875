import type { Principal } from "./principal.ts";

/** A revoked key stops working within this time, everywhere. */
const REMEMBERED_MS = 10_000;
/** Beyond it the oldest verdict is forgotten. */
const MOST_VERDICTS = 10_000;

/** An isolate's cache of checked credentials, by hash; valid ones only. */
export class Verdicts {
  readonly #verdicts = new Map<string, { principal: Principal; until: number }>();

  get(hash: string, now: number): Principal | undefined {
    const verdict = this.#verdicts.get(hash);
    if (verdict === undefined) return undefined;
    if (verdict.until > now) return verdict.principal;
    this.#verdicts.delete(hash);
    return undefined;
  }

  set(hash: string, principal: Principal, now: number): void {
    const expires = principal.expires_at === null ? Infinity : Date.parse(principal.expires_at);
    this.#verdicts.delete(hash);
    this.#verdicts.set(hash, { principal, until: Math.min(now + REMEMBERED_MS, expires) });
    if (this.#verdicts.size <= MOST_VERDICTS) return;
    const [oldest] = this.#verdicts.keys();
    if (oldest !== undefined) this.#verdicts.delete(oldest);
  }
}
