import type { MiddlewareHandler } from "hono";
import { ValueError } from "../../core/errors.ts";

/** Which pages may call the API from a browser. */
export interface AllowedOrigins {
  /** Exact: scheme, host and port. */
  origins: ReadonlySet<string>;
  /** Any page, if it has a team token. */
  anyWithTeamToken: boolean;
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** What clients of MCP, A2A and OpenAI's API send besides. */
const OF_PROTOCOLS =
  "Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, A2A-Version, A2A-Extensions, OpenAI-Organization, OpenAI-Project, X-Stainless-Arch, X-Stainless-Helper-Method, X-Stainless-Lang, X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Poll-Helper, X-Stainless-Retry-Count, X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Timeout";
const REQUEST_HEADERS = `Authorization, Content-Type, Idempotency-Key, Last-Event-ID, Accept, Troupe-Tenant, ${OF_PROTOCOLS}`;
const EXPOSED_HEADERS =
  "Location, Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, Mcp-Session-Id, X-Should-Retry";
/** Seconds that a browser may remember a preflight's answer. */
const PREFLIGHT_VALID = "600";

/**
 * Reads `ALLOWED_ORIGINS`: exact origins, separated by commas, or `*` for any page that has a team token.
 *
 * @throws ValueError for an entry that is no origin
 */
export function allowedOrigins(setting: unknown): AllowedOrigins {
  const entries = typeof setting === "string" ? setting.split(",") : [];
  const origins = new Set<string>();
  let anyWithTeamToken = false;
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== "")) {
    if (entry === "*") anyWithTeamToken = true;
    else if (URL.canParse(entry) && new URL(entry).origin === entry && entry !== "null") {
      origins.add(entry);
    } else {
      throw new ValueError(
        `ALLOWED_ORIGINS has ${JSON.stringify(entry)}: it must be an origin such as https://app.example.com, or *`,
      );
    }
  }
  return { origins, anyWithTeamToken };
}

/**
 * Answers preflights, and lets allowed pages read answers. Never with credentials: browsers send none here by themselves.
 *
 * @param hasTeamToken whether the request was admitted with a team token
 */
export function cors(
  { origins, anyWithTeamToken }: AllowedOrigins,
  hasTeamToken: (request: Request) => boolean,
): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header("origin");
    const known = origin !== undefined && origins.has(origin);
    const preflight =
      c.req.method === "OPTIONS" && c.req.header("access-control-request-method") !== undefined;
    if (origin !== undefined && preflight && (known || (anyWithTeamToken && origin !== "null"))) {
      return new Response(null, {
        status: 204,
        headers: {
          "access-control-allow-origin": origin,
          "access-control-allow-methods": METHODS,
          "access-control-allow-headers": REQUEST_HEADERS,
          "access-control-max-age": PREFLIGHT_VALID,
          vary: "Origin",
        },
      });
    }
    await next();
    if (origins.size === 0 && !anyWithTeamToken) return undefined;
    c.res.headers.append("vary", "Origin");
    if (origin === undefined || origin === "null") return undefined;
    if (known || (anyWithTeamToken && hasTeamToken(c.req.raw))) {
      c.res.headers.set("access-control-allow-origin", origin);
      c.res.headers.set("access-control-expose-headers", EXPOSED_HEADERS);
    }
    return undefined;
  };
}
