import type { TraceContext } from "./step-attempt.ts";

/** The hop count of a run that starts with the most hops: its own requests cannot start runs. */
export const MAX_HOPS = 8;

/** The header of a request, and the member of A2A's metadata and of MCP's `_meta`, with the hop count of a run that it starts. */
export const HOPS_HEADER = "troupe-hops";
export const HOPS_MEMBER = "troupe/hops";

/** The context of a run for the services that it calls: its trace, and the hop count of a run that they start. */
export interface OutgoingContext {
  trace?: TraceContext | undefined;
  hops?: number | undefined;
}

/** The headers of a request that a run makes. */
export function contextHeaders({ trace, hops }: OutgoingContext): { [name: string]: string } {
  return { ...trace, ...(hops !== undefined && { [HOPS_HEADER]: String(hops) }) };
}

/** The headers of a request that a step makes. */
export function stepHeaders({
  idempotencyKey,
  ...context
}: OutgoingContext & { idempotencyKey: string | undefined }): { [name: string]: string } {
  return {
    ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    ...contextHeaders(context),
  };
}

/** The members of a message's metadata that a run sends. */
export function contextMembers({ hops }: OutgoingContext): { [name: string]: number } {
  return hops === undefined ? {} : { [HOPS_MEMBER]: hops };
}
