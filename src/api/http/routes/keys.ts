import { createApiKey } from "../../auth/api-key.ts";
import { sha256Hex } from "../../../core/hash.ts";
import type { Principal } from "../../auth/principal.ts";
import { type Scope, SHARED_SCOPES } from "../../../contract/constants.ts";
import { permits } from "../access/admission.ts";
import { keyCommands } from "../../../contract/commands/keys.ts";
import { userOf } from "../access/admission.ts";
import { commandEndpoints } from "../command-endpoints.ts";
import { type Endpoint, json } from "../endpoint.ts";
import { ProblemError, unwrap } from "../problem.ts";
import { type Services, tenantOf } from "../services.ts";

/** What a browser may be given: it can neither make keys nor change what a team is made of. */
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
      if (principal.kind === "team") {
        throw new ProblemError({
          status: 403,
          code: "cannot_mint",
          detail: "A team token cannot make tokens; use a key.",
        });
      }
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
      const team_id = param("team");
      const signed = await teamTokens.sign(
        {
          tenant: principal.tenant,
          team: team_id,
          creation,
          scopes,
          user,
          expires_in: body.expires_in,
        },
        Date.now(),
      );
      return json({ ...signed, team_id, scopes, user: user ?? null }, 201);
    },

    async revokeToken({ team, param }) {
      unwrap(await team.revokeTokens(param("token")));
      return new Response(null, { status: 204 });
    },

    async revokeTokens({ team }) {
      unwrap(await team.revokeTokens(null));
      return new Response(null, { status: 204 });
    },
  });
}

/** @throws ProblemError 403 naming the first scope that the credential lacks or that cannot be given */
function withinOwn(
  { scopes: own }: Principal,
  wanted: readonly Scope[],
  possible: readonly Scope[] = own,
): readonly Scope[] {
  for (const scope of wanted) {
    if (permits(own, scope) && (possible === own || possible.includes(scope))) continue;
    throw new ProblemError({
      status: 403,
      code: "missing_scope",
      detail: permits(own, scope)
        ? `The scope ${scope} cannot be given to a team token; possible are ${possible.join(", ")}.`
        : `The scope ${scope} cannot be given: this credential lacks it.`,
    });
  }
  return wanted;
}
