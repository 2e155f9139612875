import type { Context } from "hono";
import type * as z from "zod";
import type { Command } from "../../../contract/commands/command.ts";
import type { Json } from "../../../core/json.ts";
import type { TeamGateway } from "../../../contract/gateways/team-gateway.ts";
import type { Idempotency } from "../../../contract/common.ts";
import type { Problem } from "../../../contract/problem.ts";
import type { Principal } from "../../auth/principal.ts";

/** A command of the API or of another protocol, and its handler. */
export interface Endpoint<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
> extends Omit<Command, "id" | "object" | "body" | "query"> {
  id: string;
  body?: Body;
  /** A strict object, as in {@link Command}. */
  query?: Query;
  /** Query parameters that it does not know have no effect: clients of the protocol send some to every server. */
  ignoresUnknownQuery?: true;
  /** The request names its team elsewhere than in the path: the handler checks that a team token is good for it. */
  namesTeam?: true;
  /** The form of its problems, if another protocol has a shape for them. */
  refusal?: ProblemFormat;
  handle(call: CheckedRequest<Body, Query>): Promise<Response>;
}

export interface ProblemFormat {
  /** The media type of what `write` makes. */
  media: string;
  write: WriteProblem;
}

export type WriteProblem = (
  problem: Problem,
  headers?: Readonly<Record<string, string>>,
) => Response;

/** A request whose parts are all checked. */
export interface CheckedRequest<
  Body extends z.ZodType = z.ZodType,
  Query extends z.ZodObject = z.ZodObject,
> {
  body: z.output<Body>;
  /** The body as it was sent, with numbers that JavaScript would change as they were written. */
  exactBody: () => Json;
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
  /** The tags of the request's `If-Match`, one of which has to be the current one. Undefined where any is. */
  ifMatch?: readonly string[];
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

/** The endpoint of a request with the parameters of its path, which are decoded. */
export interface Match {
  endpoint: Endpoint;
  parameters: Readonly<Record<string, string>>;
}
