import { beginningOf } from "../../../core/cut.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { EVENT_STREAM_HEADERS } from "../../../http/event-stream.ts";
import { readJson } from "../../http/input/body.ts";
import { json } from "../../http/endpoint/endpoint.ts";
import { problemOf } from "../../http/endpoint/problem.ts";
import { streamAnswer } from "../../http/endpoint/sse.ts";
import {
  A2AError,
  a2aErrorOf,
  errorResponse,
  INVALID_REQUEST,
  invalidParams,
  METHOD_NOT_FOUND,
  refusedBy,
  writeProblem,
} from "./wire/errors.ts";
import { normalJson } from "./wire/normal-json.ts";
import type { A2ARequest } from "./request/services.ts";
import type { A2AFormat } from "./encoder/format.ts";
import { type Methods, METHODS, versionNotSupported } from "./request/methods.ts";
import { isVersion, LEGACY_VERSION, VERSION, versionOf } from "./wire/version.ts";
import type { RpcId } from "./wire/wire.ts";

/**
 * Answers a JSON-RPC request to the agent that a team is.
 *
 * @throws ProblemError for a body that is not JSON, and what is thrown by mistake
 */
export async function answer(
  given: Omit<A2ARequest, "id" | "format" | "signal" | "headers">,
  request: Request,
): Promise<Response> {
  const { value: body } = await readJson(request, given.services.limits);
  if (!isRequest(body)) {
    const message =
      'The body must be a JSON-RPC request: { "jsonrpc": "2.0", "id", "method", "params" }';
    return errorResponse(null, { code: INVALID_REQUEST, message });
  }
  const { id = null, method } = body;
  const params = normalJson(body.params);
  let refuse = (refusal: Response): Response | Promise<Response> => refusal;
  try {
    const { methods, format } = await methodsOf(versionOf(request), method);
    if (format === "a2a-0.3" && methods.streams.has(method)) refuse = asEvent;
    const call: A2ARequest = {
      ...given,
      id,
      format,
      signal: request.signal,
      headers: request.headers,
    };
    const stream = methods.streams.get(method);
    if (stream !== undefined) {
      const opened = await stream(call, params);
      return "done" in opened ? await refuse(gone(id)) : streamAnswer(opened);
    }
    const single = methods.single.get(method);
    if (single !== undefined) {
      return json({ jsonrpc: "2.0", id, result: await single(call, params) });
    }
    const names = [...methods.single.keys(), ...methods.streams.keys()].join(", ");
    const message = `There is no method ${JSON.stringify(beginningOf(method, 100))}; the methods are ${names}`;
    return errorResponse(id, { code: METHOD_NOT_FOUND, message });
  } catch (error) {
    return refuse(refused(error, id));
  }
}

/** The methods of the version that a client speaks. @throws A2AError */
async function methodsOf(
  version: string,
  method: string,
): Promise<{ methods: Methods; format: A2AFormat }> {
  if (isVersion(version, VERSION)) return { methods: METHODS, format: "a2a" };
  // A client of 1.0 that leaves out the header learns that it is missing.
  const isNewer = METHODS.single.has(method) || METHODS.streams.has(method);
  if (!isVersion(version, LEGACY_VERSION) || isNewer) throw versionNotSupported(version);
  const { LEGACY_METHODS } = await import("./bindings/v0-3-methods.ts");
  return { methods: LEGACY_METHODS, format: "a2a-0.3" };
}

interface RpcRequest {
  id?: RpcId;
  method: string;
  params?: unknown;
}

function isRequest(body: unknown): body is JsonObject & RpcRequest {
  if (!isJsonObject(body)) return false;
  const { jsonrpc, id = null, method } = body;
  const isId = id === null || typeof id === "string" || Number.isSafeInteger(id);
  return jsonrpc === "2.0" && typeof method === "string" && isId;
}

/** An error of the protocol as the only event of a stream: clients of 0.3 that ask for a stream read errors nowhere else. */
async function asEvent(refusal: Response): Promise<Response> {
  if (!refusal.ok) return refusal;
  return new Response(`data: ${await refusal.text()}\n\n`, { headers: EVENT_STREAM_HEADERS });
}

/** The run ended between two requests to its team. */
function gone(id: RpcId): Response {
  const error = new A2AError(
    "UNSUPPORTED_OPERATION",
    "The task has ended: GetTask has its result.",
  );
  return refusedBy(id, error);
}

/** @throws what is neither an error of the protocol nor a problem */
function refused(error: unknown, id: RpcId): Response {
  if (error instanceof A2AError) return refusedBy(id, error);
  const refusal = problemOf(error);
  if (refusal === undefined) throw error;
  const named = a2aErrorOf(refusal.problem);
  if (named !== undefined) return refusedBy(id, named);
  if (refusal.problem.status === 422) return invalidParams(id, refusal.problem);
  return writeProblem(refusal.problem, refusal.headers, id);
}
