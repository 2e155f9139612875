import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../../../core/json.ts";
import type { ClientSession } from "./services.ts";

const HEADER = "mcp-session-id";
const ID = /^[0-9a-f-]{36}\.(forms|plain)(-pages)?$/;

/** The revision of the protocol that a request says it is of; empty where it says none. */
export function versionOf(request: Request): string {
  return request.headers.get("mcp-protocol-version") ?? "";
}

/** The session that a request names; undefined for none, and for an id that is not of this server's form. */
export function sessionOf(request: Request): ClientSession | undefined {
  const id = request.headers.get(HEADER) ?? "";
  const [, kind, pages] = ID.exec(id) ?? [];
  return kind === undefined
    ? undefined
    : { id, forms: kind === "forms", pages: pages !== undefined };
}

/** The response to `initialize` with the id of a new session, which any server can read later. */
export function withNewSession(response: Response, initialize: unknown): Response {
  if (!response.ok) return response;
  const params = isJsonObject(initialize) ? initialize.params : undefined;
  const given = isJsonObject(params) ? params.capabilities : undefined;
  const capabilities = given as ClientCapabilities | undefined;
  const kind = canShowForms(capabilities) ? "forms" : "plain";
  const pages = canShowPages(capabilities) ? "-pages" : "";
  const answer = new Response(response.body, response);
  answer.headers.set(HEADER, `${crypto.randomUUID()}.${kind}${pages}`);
  return answer;
}

/** Forms are the first kind of elicitation: a client that names no kind has it. */
export function canShowForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || Object.keys(elicitation).length === 0;
}

/** The extension of clients that show pages of a server (MCP Apps), and the type of these pages. */
const UI = "io.modelcontextprotocol/ui";
export const PAGE = "text/html;profile=mcp-app";

export function canShowPages(capabilities: ClientCapabilities | undefined): boolean {
  const settings = capabilities?.extensions?.[UI];
  if (!isJsonObject(settings)) return false;
  const { mimeTypes } = settings;
  return !Array.isArray(mimeTypes) || mimeTypes.includes(PAGE);
}
