import * as z from "zod";
import {
  clientMetadataSchema,
  connectionsSchema,
  createConnectionSchema,
  startedConnectionSchema,
} from "../tenant/connection.ts";
import { pageSizeParameter } from "../query-parameters.ts";
import { userSchema } from "../user.ts";
import { command } from "./command.ts";

/** A cursor has the user and the server of a connection. */
const LONGEST_CURSOR = 8_000;

const ticketQuery = z.strictObject({
  ticket: z.string().max(200).describe("As the address of the login has it."),
});

/** The end of a login, at any address that browsers come back to. */
const callback = {
  method: "get",
  tag: "Connections",
  scope: null,
  query: () =>
    z.object({
      state: z.string().max(200).optional(),
      code: z.string().max(10_000).optional(),
      iss: z.string().max(2_000).optional(),
      error: z.string().max(2_000).optional(),
    }),
  answers: { 200: { description: "A page that says so.", media: "text/html" } },
  problems: [403, 404, 502],
} as const;

const clientDocument = {
  method: "get",
  tag: "Connections",
  scope: null,
  answers: {
    200: { description: "The document.", schema: { ClientMetadata: clientMetadataSchema } },
  },
} as const;

/** Logins of the tenant and its users at MCP servers. */
export const connectionCommands = {
  createConnection: command({
    method: "post",
    path: "/v1/connections",
    summary: "Begin a login at an MCP server: the answer has the page that a human opens",
    tag: "Connections",
    scope: "teams:write",
    body: createConnectionSchema,
    answers: {
      201: {
        description: "The page of the login.",
        schema: { StartedConnection: startedConnectionSchema },
      },
    },
    problems: [409, 502, 503],
  }),

  connections: command({
    method: "get",
    path: "/v1/connections",
    id: "listConnections",
    summary: "The connections, by user and server, without their tokens",
    tag: "Connections",
    scope: "teams:read",
    query: (limits) =>
      z.strictObject({
        user: userSchema
          .optional()
          .describe("Only those of this user. An identity token sees its own and the tenant's."),
        limit: pageSizeParameter(limits),
        cursor: z
          .string()
          .max(LONGEST_CURSOR)
          .optional()
          .describe("A next_cursor of an earlier answer."),
      }),
    answers: { 200: { description: "A page.", schema: { Connections: connectionsSchema } } },
  }),

  deleteConnection: command({
    method: "delete",
    path: "/v1/connections/:connection",
    summary:
      "Forget a connection with its tokens, which the authorization server revokes if it can. No request uses them from then on",
    tag: "Connections",
    scope: "teams:write",
    answers: { 204: { description: "It is forgotten." } },
    problems: [404],
  }),

  loginPage: command({
    method: "get",
    path: "/v1/connections/login",
    summary: "The page of a login: says for whom it is, and asks whether to continue",
    tag: "Connections",
    scope: null,
    query: () => ticketQuery,
    answers: { 200: { description: "The page.", media: "text/html" } },
    problems: [404],
  }),

  continueLogin: command({
    method: "post",
    path: "/v1/connections/login",
    summary: "Continue at the authorization server, from which the same browser has to come back",
    tag: "Connections",
    scope: null,
    query: () => ticketQuery,
    answers: { 303: { description: "The authorization server, in Location." } },
    problems: [403, 404],
  }),

  finishLogin: command({
    path: "/v1/connections/callback",
    summary:
      "Where the browser comes back to after a login of a client that an operator has registered; it redeems the code",
    ...callback,
  }),

  finishLoginAt: command({
    path: "/v1/connections/callback/:issuer",
    summary: "Where the browser comes back to from one authorization server; it redeems the code",
    ...callback,
  }),

  clientMetadataAt: command({
    path: "/v1/connections/client/:document{[^/]+}",
    summary:
      "The OAuth client metadata of this server for one authorization server: ISSUER.json, whose address is its client id",
    ...clientDocument,
    problems: [404],
  }),

  clientMetadata: command({
    path: "/v1/connections/client.json",
    summary: "The OAuth client metadata of this server, whose address is its client id",
    ...clientDocument,
  }),
};
