import type { Context } from "hono";
import type * as z from "zod";
import type { Idempotency, TeamGateway } from "../contract/gateways/team-gateway.ts";
import type { Problem } from "../contract/problem.ts";
import type { Principal } from "../auth/principal.ts";
import type { Scope } from "../contract/constants.ts";
import type { SchemaName } from "./schema-names.ts";

/** An operation of the API: its request, its responses and its handler. */
export interface Endpoint<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
> {
  method: "get" | "post" | "put" | "patch" | "delete";
  /** In Hono's notation: `/v1/teams/:team`. Parameters are ids, except `:path{[^]+}`: the path of a file. */
  path: string;
  /** The `operationId`. */
  id: string;
  summary: string;
  tag:
    | "Teams"
    | "Runs"
    | "Files"
    | "Schedules"
    | "Webhooks"
    | "Keys"
    | "Usage"
    | "Tenants"
    | "OpenAI"
    | "AG-UI"
    | "AI SDK"
    | "A2A"
    | "MCP"
    | "Service";
  /** The scope that the key must have; null for endpoints without authentication; `each`: the handler checks for it. */
  scope: Scope | "any" | "each" | "operator" | null;
  /** The request names its team elsewhere than in the path: the handler checks that a team token is good for it. */
  namesTeam?: true;
  body?: Body;
  /** Bytes that the body may have where the limit of all bodies is smaller. */
  maxBytes?: number;
  /** An empty body stands for `{}`. */
  bodyOptional?: boolean;
  /** The handler reads the body: a file of any media type, or a JSON-RPC message. */
  reads?: "file" | "message";
  /** A strict object. `metadata` in it is a record, given as `metadata.KEY=value`. */
  query?: Query;
  /** Reads `Idempotency-Key`. */
  idempotent?: boolean;
  /** Its response is a stream that `Last-Event-ID` continues. */
  resumable?: boolean;
  answers: { readonly [status: number]: ResponseSpec };
  /** How its problems are written, where another protocol has a shape for them. */
  refusal?: Refusal;
  /** Statuses of its problems besides those of every operation. */
  problems?: readonly number[];
  handle(call: Call<Body, Query>): Promise<Response>;
}

export interface Refusal {
  /** The media type of what `write` makes. */
  media: string;
  write: WriteProblem;
}

export type WriteProblem = (
  problem: Problem,
  headers?: Readonly<Record<string, string>>,
) => Response;

export interface ResponseSpec {
  description: string;
  schema?: SchemaName;
  /** The media type of a body that is not JSON. */
  media?: string;
  /** It is a stream of server-sent events, which are such frames; instead of `media`. */
  frames?: "StreamFrame" | "TenantFrame";
  /** The response has `Location`. */
  location?: boolean;
}

/** A request whose parts are all checked. */
export interface Call<Body extends z.ZodType = z.ZodType, Query extends z.ZodObject = z.ZodObject> {
  body: z.output<Body>;
  query: z.output<Query>;
  /** @throws TypeError when the path has no such parameter */
  param: (name: string) => string;
  /** The path of the file that the path names. @throws ProblemError 422 */
  file: () => string;
  /** The team the path names. @throws TypeError when it names none */
  readonly team: TeamGateway;
  principal: Principal;
  /** The request's idempotency key with a hash of its body, when it has a key. */
  idempotency?: Idempotency;
  c: Context;
}

/** Checks the types of one endpoint and erases them, so that endpoints fit into one list. */
export function endpoint<Body extends z.ZodType, Query extends z.ZodObject = z.ZodObject>(
  spec: Endpoint<Body, Query>,
): Endpoint {
  return spec;
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });
}
