import type { LoggingLevel } from "@modelcontextprotocol/server";
import type {
  ProtocolSession,
  SessionChange,
} from "../../../../contract/gateways/tenant-gateway.ts";
import { sha256Hex } from "../../../../core/hash.ts";
import { invalid, unwrap } from "../../../http/endpoint/problem.ts";
import { tenantOf } from "../../../http/endpoint/services.ts";
import type { McpRequest } from "./services.ts";

/** Resources that a session may subscribe to. */
const MOST_SUBSCRIPTIONS = 50;

/** The time for which an isolate takes read settings for current. */
const CURRENT_MS = 5_000;
/** Sessions that an isolate remembers. */
const MOST_REMEMBERED = 1_000;

interface Remembered {
  until: number;
  settings: ProtocolSession | null;
}

const remembered = new Map<string, Remembered>();

/** The client's settings of its session; null for nothing, and without a session. */
export async function sessionSettings(request: McpRequest): Promise<ProtocolSession | null> {
  const id = await idOf(request);
  if (id === undefined) return null;
  const existing = remembered.get(id);
  if (existing !== undefined && existing.until > Date.now()) return existing.settings;
  // The value, not its promise: one of a request that was cancelled would never resolve for others.
  const settings = await tenantOf(request.services, request.principal.tenant).session(id);
  remembered.delete(id);
  remembered.set(id, { until: Date.now() + CURRENT_MS, settings });
  const [oldest] = remembered.keys();
  if (remembered.size > MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
  return settings;
}

/** @throws ProblemError */
export async function setLevel(request: McpRequest, level: LoggingLevel): Promise<void> {
  await change(request, { level });
}

/** @param on whether it subscribes, or ends a subscription @throws ProblemError */
export async function subscribe(request: McpRequest, uri: string, on: boolean): Promise<void> {
  await change(request, on ? { add: uri } : { remove: uri });
}

async function change(request: McpRequest, some: Omit<SessionChange, "most">): Promise<void> {
  const id = await idOf(request);
  if (id === undefined) {
    const message = "must be the header that initialize was answered with";
    throw invalid("session_missing", `Mcp-Session-Id ${message}.`, [
      { path: "Mcp-Session-Id", message },
    ]);
  }
  const tenant = tenantOf(request.services, request.principal.tenant);
  unwrap(await tenant.changeSession(id, { ...some, most: MOST_SUBSCRIPTIONS }));
  remembered.delete(id);
}

/** Belongs to the caller: another one that knows the session's id has settings of its own. */
async function idOf({ session, principal }: McpRequest): Promise<string | undefined> {
  if (session === undefined) return undefined;
  return sha256Hex(`mcp-session ${principal.id} ${session.id}`);
}
