import * as z from "zod";
import { createApiKey } from "../../auth/api-key.ts";
import { sha256Hex } from "../../core/sha256.ts";
import type { Principal } from "../../auth/principal.ts";
import type { Scope } from "../../contract/constants.ts";
import { createKeySchema, createTokenSchema } from "../../contract/key.ts";
import { defaultPage } from "./teams.ts";
import { type Endpoint, endpoint, json } from "../endpoint.ts";
import { ProblemError, unwrap } from "../problem.ts";
import { integerParameter } from "../../contract/query-parameters.ts";
import { type Services, tenantOf } from "../services.ts";

/** What a browser may be given: it can neither make keys nor change what a team is made of. */
const TOKEN_SCOPES: readonly Scope[] = ["teams:read", "runs:read", "runs:write", "requests:write"];

/** Credentials: created keys, team tokens, and who asks. */
export function keyEndpoints(services: Services): Endpoint[] {
  const { limits, teamTokens } = services;
  const tag = "Keys" as const;

  return [
    endpoint({
      method: "get",
      path: "/v1/whoami",
      id: "whoami",
      summary: "Who the credential stands for, and what it may do",
      tag,
      scope: "any",
      answers: { 200: { description: "The credential, without its secret.", schema: "WhoAmI" } },
      async handle({ principal }) {
        const { tenant, scopes, kind, name, expires_at, team } = principal;
        return json({ tenant, scopes, kind, name, expires_at, team_id: team?.id ?? null });
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/keys",
      id: "createKey",
      summary: "Make a key within one's own scopes; it is shown this once",
      tag,
      scope: "keys:write",
      body: createKeySchema,
      answers: { 201: { description: "The key.", schema: "CreatedKey" } },
      problems: [409, 429],
      async handle({ body, principal }) {
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
    }),

    endpoint({
      method: "get",
      path: "/v1/keys",
      id: "listKeys",
      summary: "The keys that were made, without their secrets",
      tag,
      scope: "keys:write",
      query: z.strictObject({
        limit: integerParameter(1, limits.max_page_size).optional(),
        cursor: z.string().max(500).optional().describe("A next_cursor of an earlier answer."),
      }),
      answers: { 200: { description: "A page, newest first.", schema: "Keys" } },
      async handle({ principal, query: { cursor, limit = defaultPage(limits.max_page_size) } }) {
        const page = { limit, ...(cursor !== undefined && { cursor }) };
        return json(unwrap(await tenantOf(services, principal.tenant).keys(page)));
      },
    }),

    endpoint({
      method: "delete",
      path: "/v1/keys/:key",
      id: "revokeKey",
      summary: "Revoke a key: it stops working everywhere within 10 seconds",
      tag,
      scope: "keys:write",
      answers: { 204: { description: "It is revoked." } },
      problems: [404],
      async handle({ principal, param }) {
        unwrap(await tenantOf(services, principal.tenant).revokeKey(param("key")));
        return new Response(null, { status: 204 });
      },
    }),

    endpoint({
      method: "post",
      path: "/v1/teams/:team/tokens",
      id: "createToken",
      summary: "Sign a token for this team, for a browser",
      tag,
      scope: "teams:read",
      body: createTokenSchema,
      answers: { 201: { description: "The token.", schema: "TeamToken" } },
      problems: [404],
      async handle({ body, principal, team, param }) {
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
        const creation = unwrap(await team.creation());
        const team_id = param("team");
        const signed = await teamTokens.sign(
          {
            tenant: principal.tenant,
            team: team_id,
            creation,
            scopes,
            expires_in: body.expires_in,
          },
          Date.now(),
        );
        return json({ ...signed, team_id, scopes }, 201);
      },
    }),

    endpoint({
      method: "delete",
      path: "/v1/teams/:team/tokens/:token",
      id: "revokeToken",
      summary: "Revoke a token of this team at once, by its id",
      tag,
      scope: "keys:write",
      answers: { 204: { description: "It is revoked, or there was none." } },
      problems: [404, 409],
      async handle({ team, param }) {
        unwrap(await team.revokeTokens(param("token")));
        return new Response(null, { status: 204 });
      },
    }),

    endpoint({
      method: "delete",
      path: "/v1/teams/:team/tokens",
      id: "revokeTokens",
      summary: "Revoke all tokens of this team that were made until now",
      tag,
      scope: "keys:write",
      answers: { 204: { description: "They are revoked." } },
      problems: [404],
      async handle({ team }) {
        unwrap(await team.revokeTokens(null));
        return new Response(null, { status: 204 });
      },
    }),
  ];
}

/** @throws ProblemError 403 naming the first scope that the credential lacks or that cannot be given */
function withinOwn(
  { scopes: own }: Principal,
  wanted: readonly Scope[],
  possible: readonly Scope[] = own,
): readonly Scope[] {
  for (const scope of wanted) {
    if (own.includes(scope) && possible.includes(scope)) continue;
    throw new ProblemError({
      status: 403,
      code: "missing_scope",
      detail: own.includes(scope)
        ? `The scope ${scope} cannot be given to a team token; possible are ${possible.join(", ")}.`
        : `The scope ${scope} cannot be given: this credential lacks it.`,
    });
  }
  return wanted;
}
