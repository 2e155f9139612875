import { LONGEST_SHARE_LIFE } from "../../../contract/constants.ts";
import { refuse, type Result, ok } from "../../../contract/result.ts";
import type { TokenOfTeam } from "../../../contract/gateways/team-gateway.ts";
import { type MetaStore, objectKey } from "../../storage/tables/meta-store.ts";

const LONGEST_LIFE_MS = LONGEST_SHARE_LIFE * 1000;
const MOST_REVOKED = 1_000;
/** The clock of a Worker that checks a token may be behind. */
const CLOCKS_MS = 60_000;

interface Revoked {
  /** Tokens that were made until then, epoch milliseconds, are revoked. */
  until: number;
  /** Single tokens, and when each was revoked. */
  ids: Record<string, number>;
  /** When single tokens expire. Missing for those of which it is not known, and in records of earlier versions. */
  ends?: Record<string, number>;
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

  /**
   * @param id null: all that were made until now
   * @param end when the token expires, epoch milliseconds; undefined if that is not known
   */
  revoke(id: string | null, now: number, end?: number): Result<null> {
    if (id === null) {
      this.#meta.write(REVOKED, { until: now, ids: {} });
      return ok(null);
    }
    const { until, ids, ends = {} } = this.#read();
    // Those that have expired need no entry.
    const kept = Object.keys(ids).filter((one) => {
      const expires = ends[one] ?? (ids[one] ?? 0) + LONGEST_LIFE_MS;
      return one !== id && expires > now - CLOCKS_MS;
    });
    if (kept.length >= MOST_REVOKED) {
      const detail = `The token still works: ${MOST_REVOKED} tokens of the team were revoked before they expired, the most that are possible. Revoke all tokens of the team.`;
      return refuse(409, "too_many_revoked_tokens", detail);
    }
    const known = kept.filter((one) => ends[one] !== undefined);
    this.#meta.write(REVOKED, {
      until,
      ids: { ...pick(ids, kept), [id]: now },
      ends: { ...pick(ends, known), ...(end !== undefined && { [id]: end }) },
    });
    return ok(null);
  }

  #read(): Revoked {
    return this.#meta.read(REVOKED) ?? { until: 0, ids: {} };
  }
}

function pick(
  times: Readonly<Record<string, number>>,
  names: readonly string[],
): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, times[name] ?? 0]));
}
