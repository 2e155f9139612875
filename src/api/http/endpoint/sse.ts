import type {
  OpenedStream,
  StreamInput,
  TeamGateway,
} from "../../../contract/gateways/team-gateway.ts";
import { EVENT_STREAM_HEADERS } from "../../../http/event-stream.ts";
import { invalid, unwrap } from "./problem.ts";

/** Opens a stream. */
export async function eventStream(team: TeamGateway, input: StreamInput): Promise<Response> {
  return streamAnswer(unwrap(await team.stream(input)));
}

/** Sends a stream: 200, or 204 when the run is over and nothing is left to send. */
export function streamAnswer(stream: OpenedStream, headers: Record<string, string> = {}): Response {
  if ("done" in stream) return new Response(null, { status: 204, headers });
  return new Response(stream.body, {
    status: 200,
    headers: { ...EVENT_STREAM_HEADERS, ...headers },
  });
}

/** The response to HEAD: the same headers, without opening a stream. */
export function eventStreamHead(): Response {
  return new Response(null, { status: 200, headers: EVENT_STREAM_HEADERS });
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
