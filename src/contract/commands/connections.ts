import * as z from "zod";
import {
  clientMetadataSchema,
  connectionsSchema,
  createConnectionSchema,
  startedConnectionSchema,
} from "../tenant/connection.ts";
import { command } from "./command.ts";

/** Logins of the tenant at MCP servers. */
export const connectionCommands = {
  createConnection: command({
    method: "post",
    path: "/v1/connections",
    summary: "Begin a login at an MCP server: the answer has the address that a human opens",
    tag: "Connections",
    scope: "teams:write",
    body: createConnectionSchema,
    answers: {
      201: {
        description: "The address for the login.",
        schema: { StartedConnection: startedConnectionSchema },
      },
    },
    problems: [409, 502, 503],
  }),

  connections: command({
    method: "get",
    path: "/v1/connections",
    id: "listConnections",
    summary: "The connections, by server, without their tokens",
    tag: "Connections",
    scope: "teams:read",
    object: "tenant",
    answers: { 200: { description: "All.", schema: { Connections: connectionsSchema } } },
  }),

  deleteConnection: command({
    method: "delete",
    path: "/v1/connections/:connection",
    summary: "Forget a connection with its tokens",
    tag: "Connections",
    scope: "teams:write",
    object: "tenant",
    answers: { 204: { description: "It is forgotten." } },
    problems: [404],
  }),

  finishLogin: command({
    method: "get",
    path: "/v1/connections/callback",
    summary: "Where the browser comes back to after a login; it redeems the code",
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
    problems: [404, 502],
  }),

  clientMetadata: command({
    method: "get",
    path: "/v1/connections/client.json",
    summary: "The OAuth client metadata of this server, whose address is its client id",
    tag: "Connections",
    scope: null,
    answers: {
      200: {
        description: "The document.",
        schema: { ClientMetadata: clientMetadataSchema },
      },
    },
  }),
};
