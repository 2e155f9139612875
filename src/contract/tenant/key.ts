import * as z from "zod";
import { APPROVAL_SCOPE } from "../../core/rules/approval-scope.ts";
import {
  isScope,
  LONGEST_SHARE_LIFE,
  LONGEST_TOKEN_LIFE,
  type Scope,
  SCOPES,
  SHARED_SCOPES,
} from "../constants.ts";
import { idSchema, timeSchema } from "../common.ts";
import { userSchema } from "../user.ts";

/** A scope as a credential has it. */
const scopeSchema = z
  .custom<Scope>(isScope, `must be one of ${SCOPES.join(", ")}, or such as approvals:finance`)
  .meta({
    anyOf: [
      { type: "string", enum: [...SCOPES] },
      { type: "string", pattern: APPROVAL_SCOPE.source },
    ],
  });

/** The most scopes of a credential. */
const MOST_SCOPES = 100;

export const scopesSchema = z
  .array(scopeSchema)
  .min(1, "must name at least one scope")
  .max(MOST_SCOPES, `must have at most ${MOST_SCOPES} scopes`)
  .refine((scopes) => new Set(scopes).size === scopes.length, "must not name a scope twice");

/** Ten years in seconds: a key that is to last longer does not expire. */
const LONGEST_KEY_LIFE = 10 * 365 * 86_400;

export const createKeySchema = z.strictObject({
  name: z.string().min(1).max(200).describe("What the key is for."),
  scopes: scopesSchema.optional().describe("Left out, those of the key that asks."),
  expires_in: z
    .number()
    .int()
    .min(1)
    .max(LONGEST_KEY_LIFE)
    .optional()
    .describe("Seconds; left out, the key does not expire."),
});

/** A created key as the API shows it: without the secret. */
export const keySchema = z.object({
  id: idSchema,
  name: z.string(),
  scopes: z.array(scopeSchema),
  created_at: timeSchema,
  expires_at: timeSchema.nullable(),
  last_used_at: timeSchema.nullable().describe("To the minute."),
});

export type KeyInfo = z.output<typeof keySchema>;

/** The only answer that contains the key itself. */
export const createdKeySchema = keySchema.omit({ last_used_at: true }).extend({
  key: z.string().describe("Shown this once: only its hash is stored."),
});

export const keysSchema = z.object({
  keys: z.array(keySchema),
  next_cursor: z.string().nullable(),
});

export type KeyPage = z.output<typeof keysSchema>;

export const createTokenSchema = z
  .strictObject({
    scopes: scopesSchema,
    expires_in: z
      .number()
      .int()
      .min(1)
      .max(LONGEST_SHARE_LIFE)
      .describe(
        `Seconds: at most a day, and at most 90 days for a token with ${SHARED_SCOPES.join(", ")} only. It ends earlier with the key that makes it, unless that has keys:write.`,
      ),
    user: userSchema
      .optional()
      .describe(
        "The only user that its runs and its memories are for. Left out, that of the credential; without one, no user.",
      ),
  })
  .refine(({ scopes, expires_in }) => expires_in <= LONGEST_TOKEN_LIFE || isLink(scopes), {
    path: ["expires_in"],
    message: `must be at most ${LONGEST_TOKEN_LIFE} with other scopes than ${SHARED_SCOPES.join(", ")}`,
  });

/** True if a token may show a shared conversation only. */
export function isLink(scopes: readonly Scope[]): boolean {
  return scopes.every((scope) => (SHARED_SCOPES as readonly Scope[]).includes(scope));
}

export const tokenSchema = z.object({
  id: idSchema.describe("Revokes it: DELETE /v1/teams/{team}/tokens/{id}."),
  token: z.string(),
  team_id: idSchema,
  scopes: z.array(scopeSchema),
  user: z.string().nullable(),
  expires_at: timeSchema,
});

/** A team token as the list shows it: without the token itself. */
const listedTokenSchema = z.object({
  id: idSchema,
  kind: z
    .enum(["token", "link"])
    .describe(
      "`link`: it has scopes of shared conversations only, or it answers the request with request_id and has no other right.",
    ),
  request_id: z
    .string()
    .optional()
    .describe("The only request that a link in a notification answers; missing for others."),
  scopes: z.array(scopeSchema),
  user: z.string().nullable(),
  made_by: z.string().describe("The name of the credential that made it, else its kind."),
  expires_at: timeSchema,
});

export type ListedToken = z.output<typeof listedTokenSchema>;

export const tokensSchema = z.object({
  tokens: z.array(listedTokenSchema),
  next_cursor: z.string().nullable(),
});

export const whoamiSchema = z.object({
  tenant: z.string(),
  scopes: z.array(scopeSchema),
  kind: z.enum(["local", "static", "operator", "created", "identity", "team"]),
  name: z.string().nullable(),
  expires_at: timeSchema.nullable(),
  user: z
    .string()
    .nullable()
    .describe("The only user that an identity token or a team token is good for."),
  currency: z
    .string()
    .nullable()
    .describe(
      "The currency of all costs, such as EUR: the setting CURRENCY; null if it is missing.",
    ),
  team_id: idSchema.nullable().describe("The only team that a team token is good for."),
});
