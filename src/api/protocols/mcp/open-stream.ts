import type { Principal } from "../../auth/principal.ts";
import { requireScope } from "../../http/access/access-control.ts";
import type { JsonObject } from "../../../core/json.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { internalErrorLine, ProblemError, problemOf, unwrap } from "../../http/endpoint/problem.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import { GET_RUN } from "./session/access.ts";
import { CallStream, parsePlace } from "./session/call-stream.ts";
import { openLists } from "./listen/list-changes.ts";
import { NotificationStream } from "./listen/notification-stream.ts";
import { CpuBudget } from "./session/follow-run.ts";
import { serve } from "./server.ts";
import { threadOf } from "./resources/threads.ts";
import { type McpRequest, type McpServices, teamOf } from "./session/services.ts";
import { sessionSettings } from "./session/session-settings.ts";
import { sessionOf, versionOf } from "./session/session.ts";

/**
 * Answers a GET: the rest of a call's stream after `Last-Event-ID`, or a stream for what belongs to no call. Only the revisions with sessions have either.
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
    only === undefined ? undefined : unwrap(await teamOf({ services, principal }, only).team());
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
  const version = versionOf(request);
  const asked = {
    services,
    principal,
    version,
    only: team,
    session,
    budget: new CpuBudget(services.limits.max_stream_cpu_ms),
    headers: new Headers(),
  };
  if (last === null) return sessionStream(asked, request.signal);
  const address = parsePlace(last);
  if (address === undefined || (only !== undefined && only !== address.team)) {
    const message = "Last-Event-ID must be the id of an event of this server";
    return json({ jsonrpc: "2.0", id: null, error: { code: -32_600, message } }, 400);
  }
  if (!principal.scopes.includes("runs:write")) requireScope("runs:read", principal);
  const { team: id, run, request: call, token, until } = address;
  const stream = new CallStream(version);
  const about = { ...asked, stream, resumes: address };
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

/**
 * The stream of notifications that belong to no call: changes of the lists, and of the resources that the session has
 * subscribed to.
 */
async function sessionStream(request: McpRequest, client: AbortSignal): Promise<Response> {
  const stream = new NotificationStream(client);
  const notify = (method: string, params?: JsonObject): void =>
    stream.send({ method: `notifications/${method}`, ...(params && { params }) });
  const changes = await openLists(request, stream.signal).catch((error: unknown) => {
    stream.end();
    throw error;
  });
  void changes({
    onList: () => {
      notify("tools/list_changed");
      notify("resources/list_changed");
    },
    onThread: async (team) => {
      for (const uri of (await sessionSettings(request))?.subjects ?? [])
        if (threadOf(request, uri) === team) notify("resources/updated", { uri });
    },
  })
    .catch((error: unknown) => {
      if (problemOf(error) === undefined) request.services.log(internalErrorLine(error));
    })
    .finally(() => stream.end());
  return stream.response;
}
