import type { Scope } from "../../../../contract/constants.ts";
import { isJsonObject } from "../../../../core/json.ts";

/** The tools besides those that run a team. */
export const LIST_TEAMS = "list_teams";
export const GET_RUN = "get_run";
export const ANSWER_REQUEST = "answer_request";
export const STOP_RUN = "stop_run";
/** For the page of a run, not for models. */
export const READ_RUN = "read_run";

/** Begins the names of the tools that run a team or a template. */
export const RUN_PREFIX = "run_";
export const RUN_TEAM = "run_team";
export const RUN_TEMPLATE = "run_template";

const OF_METHODS: Readonly<Record<string, Scope>> = {
  "tools/list": "teams:read",
  "resources/list": "teams:read",
  "resources/templates/list": "teams:read",
  "resources/read": "teams:read",
  "resources/subscribe": "teams:read",
  "resources/unsubscribe": "teams:read",
  "prompts/list": "teams:read",
  "prompts/get": "teams:read",
  "completion/complete": "teams:read",
  "tasks/get": "runs:read",
  "tasks/update": "requests:write",
  "tasks/cancel": "runs:write",
};

const OF_TOOLS: Readonly<Record<string, Scope>> = {
  [LIST_TEAMS]: "teams:read",
  [GET_RUN]: "runs:read",
  [READ_RUN]: "runs:read",
  [ANSWER_REQUEST]: "requests:write",
};

/** The scope that a tool needs. */
export function scopeOfTool(name: string): Scope {
  return Object.hasOwn(OF_TOOLS, name) ? (OF_TOOLS[name] as Scope) : "runs:write";
}

/** The scope that a JSON-RPC message needs of those that a credential has; undefined for one that any credential may send. */
export function scopeOfMessage(message: unknown, scopes: readonly Scope[]): Scope | undefined {
  if (!isJsonObject(message)) return undefined;
  const { method, params } = message;
  // The answer to an elicitation.
  if (method === undefined) return "result" in message ? "requests:write" : undefined;
  if (typeof method !== "string") return undefined;
  // Whoever starts runs follows them.
  if (method === "tasks/get" && scopes.includes("runs:write")) return "runs:write";
  if (method !== "tools/call")
    return Object.hasOwn(OF_METHODS, method) ? OF_METHODS[method] : undefined;
  const name = isJsonObject(params) ? params.name : undefined;
  return typeof name === "string" ? scopeOfTool(name) : undefined;
}
