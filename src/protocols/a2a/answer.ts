import { isJsonObject, type JsonObject } from "../../core/json.ts";
import { readJson } from "../../http/input/body.ts";
import { json } from "../../http/endpoint.ts";
import { problemOf } from "../../http/problem.ts";
import { streamAnswer } from "../../http/sse.ts";
import type { OpenedStream } from "../../contract/gateways/team-gateway.ts";
import {
  A2AError,
  a2aErrorOf,
  errorResponse,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  refusedBy,
  writeProblem,
} from "./errors.ts";
import {
  createPushConfig,
  deletePushConfig,
  getPushConfig,
  listPushConfigs,
} from "./request/push-configs.ts";
import { sendMessage, sendStreamingMessage } from "./request/send-message.ts";
import { withCamelKeys } from "./request/camel-keys.ts";
import type { A2ARequest } from "./request/services.ts";
import { cancelTask, getTask, listTasks, subscribeToTask } from "./tasks.ts";
import { type RpcId, VERSION } from "./wire.ts";

type Method<Result> = (request: A2ARequest, params: unknown) => Promise<Result>;

const METHODS = new Map<string, Method<object>>([
  ["SendMessage", sendMessage],
  ["GetTask", getTask],
  ["ListTasks", listTasks],
  ["CancelTask", cancelTask],
  ["CreateTaskPushNotificationConfig", createPushConfig],
  ["GetTaskPushNotificationConfig", getPushConfig],
  ["ListTaskPushNotificationConfigs", listPushConfigs],
  ["DeleteTaskPushNotificationConfig", deletePushConfig],
  ["GetExtendedAgentCard", refuseExtendedCard],
]);

const STREAMS = new Map<string, Method<OpenedStream>>([
  ["SendStreamingMessage", sendStreamingMessage],
  ["SubscribeToTask", subscribeToTask],
]);

/**
 * Answers a JSON-RPC request to the agent that a team is.
 *
 * @throws ProblemError for a body that is not JSON, and what is thrown by mistake
 */
export async function answer(given: Omit<A2ARequest, "id">, request: Request): Promise<Response> {
  const { value: body } = await readJson(request, given.services.limits);
  if (!isRequest(body)) {
    const message =
      'The body must be a JSON-RPC request: { "jsonrpc": "2.0", "id", "method", "params" }';
    return errorResponse(null, { code: INVALID_REQUEST, message });
  }
  const { id = null, method } = body;
  const params = withCamelKeys(body.params);
  try {
    requireVersion(request.headers.get("a2a-version"));
    const call = { ...given, id };
    const stream = STREAMS.get(method);
    if (stream !== undefined) {
      const opened = await stream(call, params);
      return "done" in opened ? gone(id) : streamAnswer(opened);
    }
    const single = METHODS.get(method);
    if (single !== undefined) {
      return json({ jsonrpc: "2.0", id, result: await single(call, params) });
    }
    const known = [...METHODS.keys(), ...STREAMS.keys()].join(", ");
    const message = `There is no method ${JSON.stringify(method.slice(0, 100))}; the methods are ${known}`;
    return errorResponse(id, { code: METHOD_NOT_FOUND, message });
  } catch (error) {
    return refused(error, id);
  }
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

/** Without the header a client speaks 0.3, as the specification says. @throws A2AError */
function requireVersion(header: string | null): void {
  const version = header === null || header.trim() === "" ? "0.3" : header.trim();
  if (version === VERSION || version.startsWith(`${VERSION}.`)) return;
  throw new A2AError(
    "VERSION_NOT_SUPPORTED",
    `Version ${JSON.stringify(version.slice(0, 20))} is not supported: send the header A2A-Version: ${VERSION}`,
  );
}

async function refuseExtendedCard(): Promise<never> {
  throw new A2AError("UNSUPPORTED_OPERATION", "There is no extended agent card.");
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
  return writeProblem(refusal.problem, refusal.headers, id);
}
