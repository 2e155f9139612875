import type { Principal } from "../../auth/principal.ts";
import { requireScope } from "../../http/access/admission.ts";
import { json } from "../../http/endpoint.ts";
import { ProblemError, unwrap } from "../../http/problem.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import { GET_RUN } from "./access.ts";
import { CallStream, parsePlace } from "./call-stream.ts";
import { NotificationStream } from "./listen/notification-stream.ts";
import { serve } from "./server.ts";
import type { McpServices } from "./services.ts";
import { sessionOf, versionOf } from "./session.ts";

/**
 * Answers a GET: the rest of a call's stream after `Last-Event-ID`, or a stream for what belongs to no call, which has nothing but
 * comments. Only the revisions with sessions have either.
 *
 * @param only the team, at the address of one
 * @throws ProblemError 403, 404 or 405
 */
export async function openStream(
  services: McpServices,
  request: Request,
  principal: Principal,
  only?: string,
): Promise<Response> {
  const team =
    only === undefined
      ? undefined
      : unwrap(await services.gateway.team(principal.tenant, only).team());
  const session = sessionOf(request);
  if (session === undefined) {
    throw new ProblemError(
      {
        status: 405,
        code: "method_not_allowed",
        detail:
          "GET opens streams of sessions: it needs the header Mcp-Session-Id of a revision before 2026-07-28.",
      },
      { allow: "POST, OPTIONS" },
    );
  }
  const last = request.headers.get("last-event-id");
  if (last === null) return new NotificationStream(request.signal).response;
  const place = parsePlace(last);
  if (place === undefined || (only !== undefined && only !== place.team)) {
    const message = "Last-Event-ID must be the id of an event of this server";
    return json({ jsonrpc: "2.0", id: null, error: { code: -32_600, message } }, 400);
  }
  if (!principal.scopes.includes("runs:write")) requireScope("runs:read", principal);
  const { team: id, run, request: call, token, until } = place;
  const version = versionOf(request);
  const stream = new CallStream(version);
  const about = {
    services,
    principal,
    version,
    only: team,
    session,
    idempotencyKey: undefined,
    stream,
    resumes: place,
  };
  const wait_seconds = Math.max(0, Math.ceil(until - Date.now() / 1000));
  const message = {
    jsonrpc: "2.0",
    id: call,
    method: "tools/call",
    params: {
      name: GET_RUN,
      arguments: { team_id: id, run_id: run, wait_seconds },
      ...(token !== undefined && { _meta: { progressToken: token } }),
    },
  };
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/json");
  headers.set("accept", `application/json, ${EVENT_STREAM}`);
  headers.delete("last-event-id");
  const asCall = new Request(request.url, { method: "POST", headers, signal: request.signal });
  return stream.stamp(await serve(about, asCall, message));
}
