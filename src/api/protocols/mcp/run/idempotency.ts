import type { RequestId, RequestMeta } from "@modelcontextprotocol/server";
import { sha256Hex } from "../../../../core/hash.ts";
import { sortedJson } from "../../../../core/json.ts";
import type { Idempotency } from "../../../../contract/common.ts";
import type { McpRequest, ClientSession } from "../session/services.ts";

/** The field of a call's `_meta` with the key that is the same at every attempt, as Troupe's own client sends it. */
export const KEY_IN_META = "troupe/idempotency-key";
/** The key of a run's metadata that names the request that started it. */
export const REQUEST_OF_RUN = "mcp_request";

/**
 * The key that distinguishes a repeated call from a new one: the key in its `_meta` or header, else its id in its session; undefined
 * without either, because ids alone repeat.
 */
export async function idempotencyOf(
  { session, headers }: McpRequest,
  call: { id: RequestId; meta: RequestMeta | undefined; input: object },
): Promise<Idempotency | undefined> {
  const clientKey = call.meta?.[KEY_IN_META] ?? headers.get("idempotency-key");
  const hash = await sha256Hex(sortedJson(call.input));
  if (typeof clientKey === "string") return { key: `mcp-${await sha256Hex(clientKey)}`, hash };
  if (session === undefined) return undefined;
  return { key: await requestKey(session, call.id), hash };
}

/** The key of a request by its id in its session. */
export async function requestKey(session: ClientSession, id: RequestId): Promise<string> {
  return `mcp-${await sha256Hex(`${session.id} ${JSON.stringify(id)}`)}`;
}
