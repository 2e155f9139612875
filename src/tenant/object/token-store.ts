import type { TenantGateway, TokenRecord } from "../../contract/gateways/tenant-gateway.ts";
import { ok, type Result } from "../../contract/result.ts";
import { limitReached } from "../../contract/tenant/tenant-limits.ts";
import type { Database } from "../../sqlite/database.ts";
import { fromCursor, invalidCursor, toCursor } from "../directory/cursor.ts";

/** Expired rows are deleted this long after the first of them has expired at the latest. */
const PRUNED_AFTER_MS = 3_600_000;

/** The tokens of the tenant's teams, links included, until they end. */
export class TokenStore {
  readonly #db: Database;
  #size: number | undefined;

  constructor(db: Database) {
    this.#db = db;
  }

  /** @param most how many tokens the tenant may have */
  add(team: string, token: TokenRecord, most: number, now: number): Result<null> {
    this.prune(now);
    const size = this.#count();
    if (size >= most) {
      return limitReached("team_tokens", {
        limit: "team_tokens",
        value: most,
        seconds: 60,
        remedy: "Revoke those that are not used, or have the limit raised.",
      });
    }
    this.#db.write(
      "insert into team_token values (?, ?, ?, ?, ?)",
      team,
      token.made_at,
      token.id,
      Date.parse(token.expires_at),
      JSON.stringify(token),
    );
    this.#size = size + 1;
    return ok(null);
  }

  find(team: string, id: string, now: number): TokenRecord | undefined {
    const query = "select record from team_token where team = ? and id = ? and until > ?";
    const row = this.#db.first<{ record: string }>(query, team, id, now);
    return row && (JSON.parse(row.record) as TokenRecord);
  }

  /** A page of the tokens of the team with this creation, newest first. */
  page(
    { id: team, creation }: { id: string; creation: string },
    { limit, cursor }: { limit: number; cursor?: string },
    now: number,
  ): Result<{ tokens: TokenRecord[]; next_cursor: string | null }> {
    const position =
      cursor === undefined
        ? [Number.MAX_SAFE_INTEGER, ""]
        : fromCursor(cursor, ["number", "string"]);
    if (position === undefined) return invalidCursor();
    const found = this.#db
      .all<{ record: string }>(
        `select record from team_token
           where team = ? and (made, id) < (?, ?) and until > ? and record ->> 'creation' = ?
           order by made desc, id desc limit ?`,
        team,
        Number(position[0]),
        String(position[1]),
        now,
        creation,
        limit + 1,
      )
      .map(({ record }) => JSON.parse(record) as TokenRecord);
    const tokens = found.slice(0, limit);
    const last = tokens.at(-1);
    const next_cursor =
      found.length > limit && last !== undefined ? toCursor(last.made_at, last.id) : null;
    return ok({ tokens, next_cursor });
  }

  /** As {@link TenantGateway.dropTokens}. */
  drop(...[team, revoked]: Parameters<TenantGateway["dropTokens"]>): void {
    if ("id" in revoked) this.#delete("team = ? and id = ?", team, revoked.id);
    else this.#delete("team = ? and made <= ?", team, revoked.made_until);
  }

  /** Deletes all of a team that was deleted. */
  dropTeam(team: string): void {
    if (this.#db.first("select 1 as found from team_token where team = ?", team) !== undefined) {
      this.#delete("team = ?", team);
    }
  }

  /** Deletes the tokens that end with a created key. */
  dropOfKey(key: string): void {
    this.#delete("record ->> '$.ends_with.key' = ?", key);
  }

  /** Deletes the links to a request that is closed. */
  dropOfRequest(team: string, request: string): void {
    const of = `team = ? and record ->> '$.answers.request' = ?`;
    const found = this.#db.first(`select 1 as found from team_token where ${of}`, team, request);
    if (found !== undefined) this.#delete(of, team, request);
  }

  /** Deletes those that have expired. */
  prune(now: number): void {
    const at = this.#firstEnd;
    if (at !== null && at <= now) this.#delete("until <= ?", now);
  }

  /** When expired rows have to be deleted, epoch milliseconds. */
  get nextPrune(): number | null {
    const at = this.#firstEnd;
    return at === null ? null : at + PRUNED_AFTER_MS;
  }

  get #firstEnd(): number | null {
    const query = "select min(until) as at from team_token";
    return this.#db.first<{ at: number | null }>(query)?.at ?? null;
  }

  #delete(condition: string, ...bindings: (string | number)[]): void {
    this.#db.write(`delete from team_token where ${condition}`, ...bindings);
    this.#size = undefined;
  }

  #count(): number {
    this.#size ??= this.#db.first<{ n: number }>("select count(*) as n from team_token")?.n ?? 0;
    return this.#size;
  }
}
