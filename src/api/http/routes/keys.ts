import { createApiKey } from "../../auth/api-key.ts";
import { sha256Hex } from "../../../core/hash.ts";
import { authorOf, type Principal } from "../../auth/principal.ts";
import {
  isApprovalScope,
  LONGEST_TOKEN_LIFE,
  type Scope,
  SHARED_SCOPES,
} from "../../../contract/constants.ts";
import { keyCommands } from "../../../contract/commands/keys.ts";
import { hasAllApprovals, permits, requireScope, userOf } from "../access/access-control.ts";
import { isLink, type ListedToken } from "../../../contract/tenant/key.ts";
import { isLeft, makerOf } from "../access/token-makers.ts";
import { commandEndpoints } from "../endpoint/command-endpoints.ts";
import { type Endpoint, json } from "../endpoint/endpoint.ts";
import { ProblemError, unwrap } from "../endpoint/problem.ts";
import { type Services, tenantOf } from "../endpoint/services.ts";

/** The scopes for a browser: it can neither make keys nor change the component of a team. */
const TOKEN_SCOPES: readonly Scope[] = [
  "teams:read",
  "runs:read",
  "runs:write",
  "requests:write",
  ...SHARED_SCOPES,
];

/** Credentials: created keys, team tokens, and who asks. */
export function keyEndpoints(services: Services): Endpoint[] {
  const { teamTokens } = services;

  return commandEndpoints(keyCommands, services, {
    async whoami({ principal }) {
      const { tenant, scopes, kind, name, user = null, expires_at, team } = principal;
      const { currency } = services;
      const team_id = team?.id ?? null;
      return json({ tenant, scopes, kind, name, user, expires_at, currency, team_id });
    },

    async createKey({ body, principal }) {
      const scopes = withinOwn(principal, body.scopes ?? principal.scopes);
      const { key, id } = await createApiKey(principal.tenant, services.keySigner);
      const { last_used_at: _, ...created } = unwrap(
        await tenantOf(services, principal.tenant).createKey({
          id,
          name: body.name,
          scopes,
          hash: await sha256Hex(key),
          expires_in: body.expires_in ?? null,
        }),
      );
      return json({ ...created, key }, 201, { location: `/v1/keys/${id}` });
    },

    async createToken({ body, principal, team, param }) {
      if (teamTokens === undefined) {
        throw new ProblemError({
          status: 503,
          code: "tokens_not_configured",
          detail: "Team tokens need the secret SECRETS_KEY: 32 bytes as base64.",
        });
      }
      const scopes = withinOwn(principal, body.scopes, TOKEN_SCOPES);
      const user = userOf(principal, body.user);
      const creation = unwrap(await team.creation());
      const { tenant } = principal;
      const team_id = param("team");
      const now = Date.now();
      const ends_with = await makerOf(principal, teamTokens);
      const { token, ...signed } = await teamTokens.sign(
        {
          tenant,
          team: team_id,
          creation,
          scopes,
          user,
          exp: endOf(principal, body.expires_in, now),
          ...(ends_with !== null && { maker: ends_with }),
        },
        now,
      );
      const made = { ...signed, scopes: [...scopes], user: user ?? null };
      unwrap(
        await tenantOf(services, tenant).addToken(team_id, {
          ...made,
          made_by: authorOf(principal),
          maker: principal.id,
          ends_with,
          creation,
          made_at: now,
        }),
      );
      return json({ ...made, token, team_id }, 201);
    },

    async tokens({ principal, team, param, query: { limit, cursor } }) {
      const { tenant } = principal;
      const listed = { id: param("team"), creation: unwrap(await team.creation()) };
      const page = { limit, ...(cursor !== undefined && { cursor }) };
      const found = unwrap(await tenantOf(services, tenant).tokens(listed, page));
      const configured = (await teamTokens?.configured(tenant)) ?? new Set();
      const tokens = found.tokens
        .filter(({ ends_with }) => isLeft(ends_with, configured))
        .map(({ id, scopes, user, made_by, expires_at, answers }): ListedToken => {
          const kind = isLink(scopes) || answers ? "link" : "token";
          const shown = { id, kind, scopes, user, made_by, expires_at } as const;
          return answers ? { ...shown, request_id: answers.request } : shown;
        });
      return json({ tokens, next_cursor: found.next_cursor });
    },

    async revokeToken({ principal, team, param }) {
      const [id, token] = [param("team"), param("token")];
      const tenant = tenantOf(services, principal.tenant);
      const mayAll = permits(principal.scopes, "keys:write");
      if (!mayAll) requireScope("teams:write", principal);
      const known = await tenant.tokenRecord(id, token);
      if (!mayAll) {
        unwrap(await team.creation());
        if (known === null) throw tokenNotFound(token);
        if (known.maker !== principal.id) requireScope("keys:write", principal);
      }
      // First where it is refused: a row that is left over is seen, a token that works without a row is not.
      const end = known === null ? undefined : Date.parse(known.expires_at);
      // A link that answers is good as long as its row is there.
      if (known?.answers === undefined) unwrap(await team.revokeTokens(token, end));
      await tenant.dropTokens(id, { id: token });
      return new Response(null, { status: 204 });
    },

    async revokeTokens({ principal, team, param }) {
      // A token that is made meanwhile may still work: its row stays.
      const made_until = Date.now();
      unwrap(await team.revokeTokens(null));
      await tenantOf(services, principal.tenant).dropTokens(param("team"), { made_until });
      return new Response(null, { status: 204 });
    },
  });
}

function tokenNotFound(id: string): ProblemError {
  return new ProblemError({
    status: 404,
    code: "token_not_found",
    detail: `The list of the team's tokens has no ${JSON.stringify(id)}. A token that was made before there was a list can be revoked with the scope keys:write.`,
  });
}

/** When a token of this caller ends at the latest, in epoch seconds. @param seconds the life that the request names */
function endOf({ kind, scopes, expires_at }: Principal, seconds: number, now: number): number {
  const end = Math.floor(now / 1000);
  if (permits(scopes, "keys:write")) return end + seconds;
  if (kind === "identity") return end + Math.min(seconds, LONGEST_TOKEN_LIFE);
  return Math.min(
    end + seconds,
    expires_at === null ? Infinity : Math.floor(Date.parse(expires_at) / 1000),
  );
}

/** @throws ProblemError 403 naming the first scope that the credential lacks or that cannot be given */
function withinOwn(
  principal: Principal,
  wanted: readonly Scope[],
  possible?: readonly Scope[],
): readonly Scope[] {
  const has = (scope: Scope): boolean =>
    permits(principal.scopes, scope) || (isApprovalScope(scope) && hasAllApprovals(principal));
  for (const scope of wanted) {
    const isPossible = possible?.includes(scope) ?? true;
    if (has(scope) && (isPossible || isApprovalScope(scope))) continue;
    throw new ProblemError({
      status: 403,
      code: "missing_scope",
      detail: has(scope)
        ? `The scope ${scope} cannot be given to a team token; possible are ${possible?.join(", ")}.`
        : `The scope ${scope} cannot be given: this credential lacks it.`,
    });
  }
  return wanted;
}
