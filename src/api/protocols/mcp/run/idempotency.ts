import type { RequestId, RequestMeta } from "@modelcontextprotocol/server";
import { sha256Hex } from "../../../../core/hash.ts";
import { sortedJson } from "../../../../core/json.ts";
import type { Idempotency } from "../../../../contract/common.ts";
import type { McpRequest, ClientSession } from "../session/services.ts";

/** The field of a call's `_meta` with the key that is the same at every attempt, as Troupe's own client sends it. */
export const KEY_IN_META = "troupe/idempotency-key";
/** The key of a run's metadata that names the request that started it. */
export const REQUEST_OF_RUN = "mcp_request";
/** The key of a run's metadata that names the own tool that started it. */
export const TOOL_OF_RUN = "mcp_tool";
/** The key of a run's metadata that names the conversation with a template that it belongs to. */
export const CONVERSATION_OF_RUN = "mcp_conversation";

/**
 * The key that distinguishes a repeated call from a new one: the key in its `_meta` or header, else its id in its session; undefined
 * without either, because ids alone repeat.
 */
export async function idempotencyOf(
  request: McpRequest,
  call: { id: RequestId; meta: RequestMeta | undefined; input: object },
): Promise<Idempotency | undefined> {
  const { session } = request;
  const clientKey = clientKeyOf(request, call.meta);
  const hash = await sha256Hex(sortedJson(call.input));
  if (clientKey !== undefined) return { key: `mcp-${await sha256Hex(clientKey)}`, hash };
  if (session === undefined) return undefined;
  return { key: await requestKey(session, call.id), hash };
}

/** The key that the client gives a call, in its `_meta` or header. */
export function clientKeyOf(
  { headers }: McpRequest,
  meta: RequestMeta | undefined,
): string | undefined {
  const key = meta?.[KEY_IN_META] ?? headers.get("idempotency-key");
  return typeof key === "string" ? key : undefined;
}

/** The key of a request by its id in its session. */
export async function requestKey(session: ClientSession, id: RequestId): Promise<string> {
  return `mcp-${await sha256Hex(`${session.id} ${JSON.stringify(id)}`)}`;
}
