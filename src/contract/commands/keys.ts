import * as z from "zod";
import {
  createKeySchema,
  createTokenSchema,
  createdKeySchema,
  keysSchema,
  tokenSchema,
  tokensSchema,
  whoamiSchema,
} from "../tenant/key.ts";
import { listCursorParameter, pageSizeParameter } from "../query-parameters.ts";
import { command } from "./command.ts";

/** Credentials: created keys, team tokens, and the identity of the caller. */
export const keyCommands = {
  whoami: command({
    method: "get",
    path: "/v1/whoami",
    summary: "Who the credential stands for, and what it may do",
    tag: "Keys",
    scope: "any",
    answers: {
      200: { description: "The credential, without its secret.", schema: { WhoAmI: whoamiSchema } },
    },
  }),

  createKey: command({
    method: "post",
    path: "/v1/keys",
    ofTenant: true,
    summary: "Make a key within one's own scopes; it is shown this once",
    tag: "Keys",
    scope: "keys:write",
    body: createKeySchema,
    answers: { 201: { description: "The key.", schema: { CreatedKey: createdKeySchema } } },
    problems: [409, 429],
  }),

  keys: command({
    method: "get",
    path: "/v1/keys",
    ofTenant: true,
    id: "listKeys",
    summary: "The keys that were made, without their secrets",
    tag: "Keys",
    scope: "keys:write",
    object: "tenant",
    query: (limits) =>
      z.strictObject({
        limit: pageSizeParameter(limits),
        cursor: listCursorParameter,
      }),
    answers: { 200: { description: "A page, newest first.", schema: { Keys: keysSchema } } },
  }),

  revokeKey: command({
    method: "delete",
    path: "/v1/keys/:key",
    ofTenant: true,
    summary: "Revoke a key: it stops working everywhere within 10 seconds",
    tag: "Keys",
    scope: "keys:write",
    object: "tenant",
    answers: { 204: { description: "It is revoked." } },
    problems: [404],
  }),

  createToken: command({
    method: "post",
    path: "/v1/teams/:team/tokens",
    summary: "Sign a token for this team, for a browser",
    tag: "Keys",
    scope: "teams:write",
    body: createTokenSchema,
    answers: { 201: { description: "The token.", schema: { TeamToken: tokenSchema } } },
    problems: [404, 409, 429],
  }),

  tokens: command({
    method: "get",
    path: "/v1/teams/:team/tokens",
    id: "listTokens",
    summary: "The tokens and links of this team that have not ended, without their secrets",
    tag: "Keys",
    scope: "teams:write",
    query: (limits) =>
      z.strictObject({ limit: pageSizeParameter(limits), cursor: listCursorParameter }),
    answers: {
      200: { description: "A page, newest first.", schema: { TeamTokens: tokensSchema } },
    },
    problems: [404],
  }),

  revokeToken: command({
    method: "delete",
    path: "/v1/teams/:team/tokens/:token",
    summary:
      "Revoke a token of this team at once, by its id: one's own with teams:write, any with keys:write",
    tag: "Keys",
    scope: "each",
    answers: { 204: { description: "It is revoked, or there was none." } },
    problems: [404, 409],
  }),

  revokeTokens: command({
    method: "delete",
    path: "/v1/teams/:team/tokens",
    summary: "Revoke all tokens of this team that were made until now",
    tag: "Keys",
    scope: "keys:write",
    answers: { 204: { description: "They are revoked." } },
    problems: [404],
  }),
};
