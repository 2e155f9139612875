import type * as z from "zod";
import type { SchemaName } from "./schemas.ts";

/** An operation of the protocol: how it is called, what it answers, and the function that does it. */
export interface Endpoint {
  method: "get" | "post" | "put" | "delete";
  /** In Hono's notation. */
  path: string;
  /** The `operationId`. */
  id: string;
  summary: string;
  /** Anybody may ask. */
  open?: boolean;
  /** Of a JSON body; `bytes` for a body that is taken as it is. */
  body?: z.ZodType | "bytes";
  /** Reads `Idempotency-Key`. */
  idempotent?: boolean;
  answers: Readonly<Record<number, Answer>>;
  /** Statuses of the problems it may answer besides those that every operation has. */
  problems?: readonly number[];
  handle(call: Call): Promise<Response>;
}

interface Answer {
  description: string;
  schema?: SchemaName;
  /** Of a body that is no JSON, or is none for those who ask for another. */
  media?: string;
}

/** A request that may be made. */
export interface Call {
  request: Request;
  /** A name in the path, decoded and checked. @throws ProblemError 422 */
  session(): string;
  key(): string;
  /** Of a file, below `files/`. */
  file(): string;
  /** Aborted when the client has gone before it had its answer. */
  gone: AbortSignal;
}

export function json(value: unknown): Response {
  return Response.json(value, { headers: { "cache-control": "no-store" } });
}
