import type * as z from "zod";
import type { SchemaName } from "./schemas.ts";

/** An operation of the protocol, with its handler. */
export interface Endpoint {
  method: "get" | "post" | "put" | "delete";
  /** In the syntax of Hono. */
  path: string;
  /** The `operationId`. */
  id: string;
  summary: string;
  /** The parameters of the query string. */
  query?: z.ZodObject;
  /** Needs no key. */
  open?: boolean;
  /** The schema of a JSON body; `bytes` for a binary body. */
  body?: z.ZodType | "bytes";
  /** Accepts `Idempotency-Key`. */
  idempotent?: boolean;
  answers: Readonly<Record<number, Answer>>;
  /** Statuses of its problems, besides those of every operation. */
  problems?: readonly number[];
  handle(call: Call): Promise<Response>;
}

interface Answer {
  description: string;
  schema?: SchemaName;
  /** The media type of a response other than JSON. */
  media?: string;
}

/** An authorized request. */
export interface Call {
  request: Request;
  /** The session in the path, decoded and validated. @throws ProblemError 422 */
  session(): string;
  key(): string;
  /** The id of a program in the path. */
  program(): string;
  /** The path of a file, after `files/`. */
  file(): string;
  /** Aborted when the client disconnects before the response is complete. */
  gone: AbortSignal;
}

export function json(value: unknown): Response {
  return Response.json(value, { headers: { "cache-control": "no-store" } });
}
