import type { Principal } from "../../auth/principal.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { requireScope } from "../../http/access/access-control.ts";
import { readJson } from "../../http/input/body.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { ProblemError, unwrap } from "../../http/endpoint/problem.ts";
import { scopeOfMessage } from "./session/access.ts";
import { EVENT_STREAM } from "../../../http/event-stream.ts";
import { CallStream } from "./session/call-stream.ts";
import { refuseInvalid } from "./invalid-messages.ts";
import type { ListenRequest } from "./listen/listen.ts";
import { isElicitationAnswer, takeElicitationAnswer } from "./run/elicitation.ts";
import { CpuBudget } from "./session/follow-run.ts";
import { activeRunOf } from "./run/active-runs.ts";
import { requestKey } from "./run/idempotency.ts";
import { type McpRequest, type McpServices, teamOf } from "./session/services.ts";
import { sessionOf, versionOf, withNewSession } from "./session/session.ts";

const BOTH = "application/json, text/event-stream";

/**
 * Answers a POST to the MCP server. Every message is handled by itself: what it needs to know of earlier ones is in the
 * session's id, in the message or in the team.
 *
 * @param only the team, at the address of one
 * @throws ProblemError 403, 404, 413 or 415
 */
export async function answer(
  services: McpServices,
  request: Request,
  principal: Principal,
  only?: string,
): Promise<Response> {
  const body = await readBody(request, services);
  if (body === undefined) return parseError();
  const refused = refuseInvalid(body);
  if (refused !== undefined) return refused;
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  for (const message of messages) {
    const scope = scopeOfMessage(message, principal.scopes);
    if (scope !== undefined) requireScope(scope, principal);
  }
  const team =
    only === undefined ? undefined : unwrap(await teamOf({ services, principal }, only).team());
  const session = sessionOf(request);
  const version = versionOf(request);
  const about: McpRequest = {
    services,
    principal,
    version,
    only: team,
    session,
    budget: new CpuBudget(services.limits.max_stream_cpu_ms),
    headers: request.headers,
    ...(session !== undefined && messages.length === 1 && { stream: new CallStream(version) }),
  };
  for (const message of messages) {
    if (isElicitationAnswer(message)) {
      await takeElicitationAnswer(about, message);
      if (messages.length === 1) return new Response(null, { status: 202 });
    }
    if (isJsonObject(message) && message.method === "notifications/cancelled") {
      await cancelRun(about, message);
    }
  }
  const { serve } = await import("./server.ts");
  const answered = await serve(about, asSdkWants(request), body);
  const [first] = messages;
  if (isListenRequest(first) && answered.headers.get("content-type") === EVENT_STREAM) {
    const { listen } = await import("./listen/listen.ts");
    return listen(about, first, answered, request.signal);
  }
  const response = about.stream?.stamp(answered) ?? answered;
  return isJsonObject(first) && first.method === "initialize"
    ? withNewSession(response, first)
    : response;
}

function isListenRequest(message: unknown): message is ListenRequest {
  return isJsonObject(message) && message.method === "subscriptions/listen";
}

/** Undefined for what is not JSON. @throws ProblemError 413 or 415 */
async function readBody(request: Request, { limits }: McpServices): Promise<unknown> {
  try {
    return (await readJson(request, limits)).value;
  } catch (error) {
    if (error instanceof ProblemError && error.problem.status === 400) return undefined;
    throw error;
  }
}

function parseError(): Response {
  const message = "Parse error: the body must be a JSON-RPC message in UTF-8";
  return json({ jsonrpc: "2.0", id: null, error: { code: -32_700, message } }, 400);
}

/** The request without its body. The SDK knows neither the other names of JSON's media type nor that a client accepts anything. */
function asSdkWants(request: Request): Request {
  const headers = new Headers(request.headers);
  headers.set("content-type", "application/json");
  const accept = headers.get("accept") ?? "*/*";
  if (accept.includes("*/*")) headers.set("accept", BOTH);
  return new Request(request.url, { method: request.method, headers, signal: request.signal });
}

/** Cancels the active run that a request of this session has started, if there is one. */
async function cancelRun(request: McpRequest, message: JsonObject): Promise<void> {
  const { principal, session } = request;
  const id = isJsonObject(message.params) ? message.params.requestId : undefined;
  if (session === undefined || (typeof id !== "string" && typeof id !== "number")) return;
  if (!principal.scopes.includes("runs:write")) return;
  const key = await requestKey(session, id);
  const run = await activeRunOf(request, key);
  // It may have ended in the meantime.
  if (run !== undefined) await teamOf(request, run.team_id).stopRun(run.id, "now");
}
