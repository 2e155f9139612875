import type { OpenedStream, StreamInput, TeamGateway } from "../contract/gateways/team-gateway.ts";
import { invalid, unwrap } from "./problem.ts";

export const EVENT_STREAM = "text/event-stream";

const HEADERS = {
  "content-type": EVENT_STREAM,
  "cache-control": "no-store",
  // A proxy that buffers responses would make a stream useless.
  "x-accel-buffering": "no",
};

/** Whether the client names the event stream among what it accepts (`*\/*` does not ask for one). */
export function acceptsEventStream(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    return type === EVENT_STREAM && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}

/** Opens a stream. */
export async function eventStream(team: TeamGateway, input: StreamInput): Promise<Response> {
  return streamAnswer(unwrap(await team.stream(input)));
}

/** Sends a stream: 200, or 204 when the run is over and nothing is left to send. */
export function streamAnswer(stream: OpenedStream, headers: Record<string, string> = {}): Response {
  if ("done" in stream) return new Response(null, { status: 204, headers });
  return new Response(stream.body, { status: 200, headers: { ...HEADERS, ...headers } });
}

/** The response to HEAD: the same headers, without opening a stream. */
export function eventStreamHead(): Response {
  return new Response(null, { status: 200, headers: HEADERS });
}

/**
 * The cursor after which a client resumes. A browser that reconnects repeats the URL with its old `?after=` and adds the
 * header, so the header wins.
 *
 * @throws ProblemError 422 for a header that is not a cursor
 */
export function cursorOf(lastEventId: string | undefined, after: number | undefined): number {
  if (lastEventId === undefined || lastEventId === "") return after ?? 0;
  const cursor = /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : Number.NaN;
  if (Number.isSafeInteger(cursor)) return cursor;
  throw invalid("invalid_cursor", "Last-Event-ID must be the id of a stream frame.", [
    { path: "Last-Event-ID", message: "must be a whole number" },
  ]);
}
