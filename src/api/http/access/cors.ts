import { ValueError } from "../../../core/errors.ts";

/** The pages that may call the API from a browser. */
export interface AllowedOrigins {
  /** Exact: scheme, host and port. */
  origins: ReadonlySet<string>;
  /** Any page, if it has a team token. */
  anyWithTeamToken: boolean;
}

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
/** The additional headers of clients of MCP, A2A and OpenAI's API. */
const OF_PROTOCOLS =
  "Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name, A2A-Version, A2A-Extensions, OpenAI-Organization, OpenAI-Project, Troupe-Chat, X-Troupe-Chat, X-Stainless-Arch, X-Stainless-Helper-Method, X-Stainless-Lang, X-Stainless-OS, X-Stainless-Package-Version, X-Stainless-Poll-Helper, X-Stainless-Retry-Count, X-Stainless-Runtime, X-Stainless-Runtime-Version, X-Stainless-Timeout";
const REQUEST_HEADERS = `Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, Accept, Troupe-Tenant, ${OF_PROTOCOLS}`;
const EXPOSED_HEADERS =
  "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, WWW-Authenticate, Mcp-Session-Id, X-Should-Retry";
/** Seconds that a browser may remember a preflight's answer. */
const PREFLIGHT_VALID = "600";

/**
 * Reads `ALLOWED_ORIGINS`: exact origins, separated by commas, or `*` for any page that has a team token.
 *
 * @throws ValueError for an entry that is not an origin
 */
export function allowedOrigins(setting: unknown): AllowedOrigins {
  const entries = typeof setting === "string" ? setting.split(",") : [];
  const origins = new Set<string>();
  let anyWithTeamToken = false;
  for (const entry of entries.map((text) => text.trim()).filter((text) => text !== "")) {
    if (entry === "*") anyWithTeamToken = true;
    else if (isOrigin(entry)) {
      origins.add(entry);
    } else {
      throw new ValueError(
        `ALLOWED_ORIGINS has ${JSON.stringify(entry)}: it must be an origin such as https://app.example.com, app://obsidian.md or chrome-extension://ID, or *`,
      );
    }
  }
  return { origins, anyWithTeamToken };
}

/** Programs and extensions of browsers have schemes of their own, whose origins URL does not know. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, origin } = new URL(text);
  if (origin !== "null") return origin === text;
  return !NO_ORIGIN.has(protocol) && host !== "" && text === `${protocol}//${host}`;
}

/** Schemes whose pages have the origin `null`, or none. */
const NO_ORIGIN: ReadonlySet<string> = new Set([
  "file:",
  "data:",
  "javascript:",
  "about:",
  "blob:",
]);

/** Answers preflights, and lets allowed pages read answers. Never with credentials: browsers send none here by themselves. */
export class Cors {
  readonly #allowed: AllowedOrigins;

  constructor(allowed: AllowedOrigins) {
    this.#allowed = allowed;
  }

  /** The answer to an OPTIONS request, if it is the preflight of an allowed page. */
  preflight({ headers }: Request): Response | undefined {
    const { origins, anyWithTeamToken } = this.#allowed;
    const origin = headers.get("origin");
    if (origin === null || !headers.has("access-control-request-method")) return undefined;
    if (!origins.has(origin) && !(anyWithTeamToken && origin !== "null")) return undefined;
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

  /**
   * Lets an allowed page read the response.
   *
   * @param origin the header of the request
   * @param hasTeamToken whether the request was admitted with a team token
   */
  allow(origin: string | null, response: Response, hasTeamToken: boolean): void {
    const { origins, anyWithTeamToken } = this.#allowed;
    if (origins.size === 0 && !anyWithTeamToken) return;
    response.headers.append("vary", "Origin");
    if (origin === null || origin === "null") return;
    if (origins.has(origin) || (anyWithTeamToken && hasTeamToken)) {
      response.headers.set("access-control-allow-origin", origin);
      response.headers.set("access-control-expose-headers", EXPOSED_HEADERS);
    }
  }
}
