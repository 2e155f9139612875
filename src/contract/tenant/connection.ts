import * as z from "zod";
import { idSchema, timeSchema } from "../common.ts";
import { userSchema } from "../user.ts";

/** The longest address of a server, in characters. */
const LONGEST_URL = 2_000;

const text = z.string().min(1).max(LONGEST_URL);

export const createConnectionSchema = z
  .strictObject({
    server: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" })
      .max(LONGEST_URL)
      .refine((url) => !URL.canParse(url) || new URL(url).username === "", {
        error: "must not contain a user name or password",
      })
      .describe("The URL of the MCP server, as in `server_params`."),
    scope: text
      .optional()
      .describe("Scopes, separated by spaces. Left out, those that the server names."),
    client_id: text
      .optional()
      .describe(
        "The id of a client that the authorization server knows. Left out, the address of this server's client metadata, or a registration.",
      ),
    client_secret: text
      .optional()
      .describe("Its secret, which is stored encrypted, or `env:NAME`. Needs `issuer`."),
    user: userSchema
      .optional()
      .describe(
        "Whose login it is: only runs of this user use it. Left out, that of an identity token is its subject's, and any other the tenant's, for runs without a user.",
      ),
    issuer: z
      .url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" })
      .max(LONGEST_URL)
      .optional()
      .describe("The authorization server that knows the client. The login is made at no other."),
  })
  .refine(
    ({ client_id, client_secret }) => client_secret === undefined || client_id !== undefined,
    {
      path: ["client_id"],
      message: "is missing: client_secret is the secret of a client",
    },
  )
  .refine(({ client_secret, issuer }) => client_secret === undefined || issuer !== undefined, {
    path: ["issuer"],
    message: "is missing: a secret is sent to one authorization server only",
  })
  .refine(({ client_id, issuer }) => issuer === undefined || client_id !== undefined, {
    path: ["client_id"],
    message: "is missing: issuer is the authorization server that knows the client",
  });

export type CreateConnection = z.output<typeof createConnectionSchema>;

/** A connection as the API shows it: without tokens and secrets. */
export const connectionSchema = z.object({
  id: idSchema,
  server: z.string(),
  user: z
    .string()
    .nullable()
    .describe("Whose login it is; null for the tenant's, which runs without a user use."),
  status: z
    .enum(["connected", "login_needed"])
    .describe(
      "`login_needed`: nobody has logged in yet, or the server no longer accepts the login.",
    ),
  scope: z.string().nullable().describe("The scopes that were granted, separated by spaces."),
  issuer: z.string().nullable().describe("The authorization server."),
  started_by: z
    .string()
    .nullable()
    .describe("The credential, or the run, that began the last login."),
  created_at: timeSchema,
  connected_at: timeSchema.nullable().describe("The last login."),
});

export type ConnectionInfo = z.output<typeof connectionSchema>;

export const connectionsSchema = z.object({
  connections: z.array(connectionSchema),
  next_cursor: z.string().nullable().describe("Pass as cursor; null at the end."),
});

export type ConnectionList = z.output<typeof connectionsSchema>;

export const startedConnectionSchema = connectionSchema.extend({
  authorization_url: z
    .string()
    .describe(
      "A page of this service that a human opens in a browser: it says for whom the login is, and leads to the authorization server.",
    ),
  expires_at: timeSchema.describe("When this address stops working."),
});

export type StartedConnection = z.output<typeof startedConnectionSchema>;

/** This server as a client of OAuth. */
export const clientMetadataSchema = z.object({
  client_id: z.string().describe("The address of this document."),
  client_name: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.literal("none"),
});
