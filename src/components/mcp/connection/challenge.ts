import type { InsufficientScopeError } from "@modelcontextprotocol/client";
import { TroupeError } from "../../../core/errors.ts";
import { McpError } from "../answers/mcp-error.ts";
import type { LoginChallenge } from "../../../core/steps/server-logins.ts";
import type { LoginOfQuestion } from "../../../core/turn/turn-context.ts";

/** The server's part of the challenge, without what the session knows. */
type Asked = Pick<LoginChallenge, "scope" | "insufficient" | "resourceMetadata">;

/** The server refused a request, which it has not handled, and wants a login. */
export class ChallengeError extends Error {
  readonly asked: Asked;

  constructor(asked: Asked) {
    super("The server wants a login.");
    this.asked = asked;
  }
}

/** A human has to log in at the server. The effect has to be repeated after that. */
export class LoginNeededError extends TroupeError {
  readonly retryable = false;
  readonly needed: Pick<LoginOfQuestion, "user" | "url">;

  constructor(server: string, needed: Pick<LoginOfQuestion, "user" | "url">) {
    super("mcp_login_needed", `The MCP server "${server}" needs a login of a human.`);
    this.needed = needed;
  }
}

/** The error on hosts that keep no logins. */
export function noLogins(server: string, { insufficient, scope }: Asked): McpError {
  const answered = insufficient
    ? `HTTP 403: the credentials lack the scope "${scope ?? ""}"`
    : "HTTP 401: it needs credentials, which are headers or oauth in its server_params";
  return new McpError("mcp_refused", `The MCP server "${server}" answered ${answered}.`);
}

/** @param parse the SDK's reader of `WWW-Authenticate` */
export function challengeIn(
  response: Response,
  parse: (response: Response) => { scope?: string; resourceMetadataUrl?: URL },
): ChallengeError {
  const { scope, resourceMetadataUrl } = parse(response);
  return new ChallengeError({
    scope: scope ?? null,
    insufficient: false,
    resourceMetadata: resourceMetadataUrl?.href ?? null,
  });
}

/** The challenge in an error of a request; undefined for other errors. */
export function challengeOf(error: unknown): Asked | undefined {
  for (let inner = error; inner instanceof Error; inner = inner.cause) {
    if (inner instanceof ChallengeError) return inner.asked;
    if (isInsufficientScope(inner)) {
      const { requiredScope = null, resourceMetadataUrl } = inner;
      const resourceMetadata = resourceMetadataUrl?.href ?? null;
      return { scope: requiredScope, insufficient: true, resourceMetadata };
    }
  }
  return undefined;
}

/** By its brand: the class belongs to the SDK, which is loaded when it is needed. */
function isInsufficientScope(error: Error): error is InsufficientScopeError {
  const { mcpBrand } = error.constructor as { mcpBrand?: unknown };
  return mcpBrand === "mcp.InsufficientScopeError";
}
