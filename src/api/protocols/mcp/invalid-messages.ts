import type * as z from "zod";
import type { Issue } from "../../../core/errors.ts";
import { issuesOf, listIssues } from "../../../core/issues.ts";
import { isJsonObject, type JsonObject } from "../../../core/json.ts";
import { json } from "../../http/endpoint/endpoint.ts";

/** Messages of a batch, which revisions before 2025-06-18 have. */
const MOST_MESSAGES = 100;

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;

/** The error of a body that holds no messages of JSON-RPC, which names the field; undefined for valid ones. */
export function refuseInvalid(body: unknown): Response | undefined {
  if (!Array.isArray(body)) return refuse(body, "");
  if (body.length === 0 || body.length > MOST_MESSAGES) {
    const message = `A batch must have 1 to ${MOST_MESSAGES} messages`;
    return json(errorOf(null, INVALID_REQUEST, message), 400);
  }
  for (const [index, message] of body.entries()) {
    const refused = refuse(message, `[${index}].`);
    if (refused !== undefined) return refused;
  }
  return undefined;
}

/** @param place the path of the message in the body */
function refuse(message: unknown, place: string): Response | undefined {
  const isObject = isJsonObject(message);
  const wrong = isObject
    ? (wrongMember(message) ?? wrongParam(message))
    : { path: "message", message: "must be an object" };
  if (wrong === undefined) return undefined;
  const isParam = wrong.path.startsWith("params");
  const id = isObject && isId(message.id) ? message.id : null;
  const title = isParam ? "Invalid params" : "Invalid request";
  const text = `${title}: ${place}${wrong.path} ${wrong.message}`;
  return json(errorOf(id, isParam ? INVALID_PARAMS : INVALID_REQUEST, text), 400);
}

function errorOf(id: unknown, code: number, message: string): object {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

function isId(id: unknown): boolean {
  return typeof id === "string" || Number.isInteger(id);
}

function wrongMember(message: JsonObject): Issue | undefined {
  const { jsonrpc, method, result, error } = message;
  if (jsonrpc !== "2.0") return { path: "jsonrpc", message: 'must be "2.0"' };
  if ("id" in message && !isId(message.id))
    return { path: "id", message: "must be a text or an integer" };
  if (method !== undefined && typeof method !== "string")
    return { path: "method", message: "must be a text" };
  if (method === undefined && (result === undefined) === (error === undefined))
    return { path: "method", message: "is missing, and a response has either result or error" };
  return undefined;
}

function wrongParam({ params }: JsonObject): Issue | undefined {
  if (params === undefined) return undefined;
  if (!isJsonObject(params)) return { path: "params", message: "must be an object" };
  const { _meta: meta, inputResponses } = params;
  // The SDK ignores inputResponses that are not an object.
  if (inputResponses !== undefined && !isJsonObject(inputResponses))
    return { path: "params.inputResponses", message: "must be an object" };
  if (meta === undefined) return undefined;
  if (!isJsonObject(meta)) return { path: "params._meta", message: "must be an object" };
  if (meta.progressToken === undefined || isId(meta.progressToken)) return undefined;
  return { path: "params._meta.progressToken", message: "must be a text or an integer" };
}

/** The SDK's message about invalid parameters: some words, then a list of issues as JSON. */
const ISSUES = /\[\s*\{.*\}\s*\]$/s;

/** The issues of parameters that the SDK has refused, below `params`; none where its error says something else. */
export function issuesIn({ message }: Error): Issue[] {
  const [list] = ISSUES.exec(message) ?? [];
  if (list === undefined) return [];
  return issuesOf({ issues: JSON.parse(list) as z.core.$ZodIssue[] });
}

/** The text of an error about parameters. */
export function invalidParamsText(issues: readonly Issue[]): string {
  return `Invalid params: ${listIssues(issues)}`;
}
