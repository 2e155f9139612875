import { LONGEST_SHARE_LIFE } from "../../contract/constants.ts";
import { refuse, type Result, ok } from "../../contract/result.ts";
import type { TokenOfTeam } from "../../contract/gateways/team-gateway.ts";
import { type MetaStore, objectKey } from "../storage/meta-store.ts";

const LONGEST_LIFE_MS = LONGEST_SHARE_LIFE * 1000;
const MOST_REVOKED = 1_000;

interface Revoked {
  /** Tokens that were made until then, epoch milliseconds, are revoked. */
  until: number;
  /** Single tokens, and when each was revoked. */
  ids: Record<string, number>;
}

const REVOKED = objectKey<Revoked>("revoked_tokens", ["until", "ids"]);

/** The tokens of a team that were revoked before they expired. */
export class RevokedTokens {
  readonly #meta: MetaStore;

  constructor(meta: MetaStore) {
    this.#meta = meta;
  }

  has({ id, made_at }: TokenOfTeam): boolean {
    const { until, ids } = this.#read();
    return made_at <= until || (id !== null && Object.hasOwn(ids, id));
  }

  /** @param id null: all that were made until now */
  revoke(id: string | null, now: number): Result<null> {
    const { until, ids } = this.#read();
    if (id === null) {
      this.#meta.write(REVOKED, { until: now, ids: {} });
      return ok(null);
    }
    // Those that have expired need no entry.
    const kept = Object.entries(ids).filter(([, at]) => at > now - LONGEST_LIFE_MS);
    if (kept.length >= MOST_REVOKED) {
      const detail = `${MOST_REVOKED} tokens of the team were revoked in the last 90 days, the most that are possible: revoke all tokens.`;
      return refuse(409, "too_many_revoked_tokens", detail);
    }
    const revoked: Revoked = { until, ids: { ...Object.fromEntries(kept), [id]: now } };
    this.#meta.write(REVOKED, revoked);
    return ok(null);
  }

  #read(): Revoked {
    return this.#meta.read(REVOKED) ?? { until: 0, ids: {} };
  }
}
