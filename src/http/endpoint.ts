import type { Context } from "hono";
import type * as z from "zod";
import type { Idempotency, TeamGateway } from "../contract/gateway.ts";
import type { Principal, Scope } from "./auth.ts";
import type { SchemaName } from "./schema-names.ts";

/** An operation of the API: how it is called, what it answers, and the function that does it. */
export interface Endpoint<
  Body extends z.ZodType = z.ZodType,
  Query extends QueryShape = QueryShape,
> {
  method: "get" | "post" | "put" | "delete";
  /** In Hono's notation: `/v1/teams/:team`. Parameters are ids. */
  path: string;
  /** The `operationId`. */
  id: string;
  summary: string;
  tag: "Teams" | "Runs" | "Service";
  /** What the key must allow; null for what anybody may ask. */
  scope: Scope | null;
  body?: Body;
  /** An empty body stands for `{}`. */
  bodyOptional?: boolean;
  query?: Query;
  /** Reads `Idempotency-Key`. */
  idempotent?: boolean;
  /** Its body or answer is a stream that `Last-Event-ID` continues. */
  resumable?: boolean;
  answers: { readonly [status: number]: ResponseSpec };
  /** Statuses of the problems it may answer besides those that every operation has. */
  problems?: readonly number[];
  handle(call: Call<Body, Query>): Promise<Response>;
}

export type QueryShape = { readonly [name: string]: z.ZodType };

export interface ResponseSpec {
  description: string;
  schema?: SchemaName;
  /** Of a body that is no JSON. */
  media?: string;
  /** The answer carries `Location`. */
  location?: boolean;
}

/** A request whose parts were all checked. */
export interface Call<Body extends z.ZodType, Query extends QueryShape> {
  body: z.output<Body>;
  query: { [Name in keyof Query]: z.output<Query[Name]> };
  /** @throws TypeError when the path has no such parameter */
  param: (name: string) => string;
  /** The team the path names. @throws TypeError when it names none */
  readonly team: TeamGateway;
  principal: Principal;
  /** Of the request's key and body, when there was a key. */
  idempotency?: Idempotency;
  c: Context;
}

/** Checks the types of one endpoint against each other and forgets them, so that endpoints fit into one list. */
export function endpoint<Body extends z.ZodType, Query extends QueryShape = QueryShape>(
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
