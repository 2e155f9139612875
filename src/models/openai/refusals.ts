import { APIError } from "openai/error";
import type { ApiName } from "./routes.ts";

/** What of a request a server refused, where it can be made in another way. */
export type Refusal = "api" | "reasoning" | "summary" | "encryption";

/** Statuses of a server that does not have an API. */
const NO_SUCH_API = new Set([404, 405, 501]);

/** The reasoning of an item that is sent back is wrong, cut, of another account, or was not kept by the server. */
const REASONING = /encrypted.content|'reasoning'|item with id/i;

/** Reads why a request was refused; undefined for an error that another form of it would not mend. */
export function refusalOf(error: unknown, api: ApiName): Refusal | undefined {
  if (!(error instanceof APIError)) return undefined;
  const { status, param, code } = error;
  const text = `${error.message} ${JSON.stringify(error.error)}`;
  if (api === "chat_completions")
    return (status === 400 || status === 404) && /v1\/responses/.test(text) ? "api" : undefined;
  if (status === 400 || status === 404) {
    if (param === "reasoning.summary") return "summary";
    if (param === "include" || /encrypted content is not supported/i.test(text))
      return "encryption";
    if (code === "invalid_encrypted_content" || REASONING.test(text)) return "reasoning";
  }
  return status !== undefined && NO_SUCH_API.has(status) ? "api" : undefined;
}
