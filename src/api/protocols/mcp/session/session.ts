import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { isJsonObject } from "../../../../core/json.ts";
import type { ClientSession } from "./services.ts";

const HEADER = "mcp-session-id";
const ID = /^[0-9a-f-]{36}\.(forms|plain)$/;

/** The revision of the protocol that a request says it is of; empty where it says none. */
export function versionOf(request: Request): string {
  return request.headers.get("mcp-protocol-version") ?? "";
}

/** The session that a request names; undefined for none, and for an id that is not of this server's form. */
export function sessionOf(request: Request): ClientSession | undefined {
  const id = request.headers.get(HEADER) ?? "";
  const [, kind] = ID.exec(id) ?? [];
  return kind === undefined ? undefined : { id, forms: kind === "forms" };
}

/** The response to `initialize` with the id of a new session, which any server can read later. */
export function withNewSession(response: Response, initialize: unknown): Response {
  if (!response.ok) return response;
  const params = isJsonObject(initialize) ? initialize.params : undefined;
  const capabilities = isJsonObject(params) ? params.capabilities : undefined;
  const forms = canShowForms(capabilities as ClientCapabilities | undefined);
  const answer = new Response(response.body, response);
  answer.headers.set(HEADER, `${crypto.randomUUID()}.${forms ? "forms" : "plain"}`);
  return answer;
}

/** Forms are the first kind of elicitation: a client that names no kind has it. */
export function canShowForms(capabilities: ClientCapabilities | undefined): boolean {
  const { elicitation } = capabilities ?? {};
  if (elicitation === undefined) return false;
  return elicitation.form !== undefined || Object.keys(elicitation).length === 0;
}
