import { beginningOf } from "../../core/cut.ts";
import { SCOPES } from "../../contract/constants.ts";
import type { Problem } from "../../contract/problem.ts";
import { docsPage } from "../../contract/public-names.ts";
import {
  type Authenticate,
  invalidTenant,
  isTenantId,
  type Principal,
  type Refusal,
  TENANT_HEADER,
} from "./principal.ts";

/** Carries the key of the front server that `npm start` runs. */
export const FRONT_KEY_HEADER = "troupe-front-key";

/** Refuses every request: the deployment has no credentials configured. */
export const closed: Authenticate = async () => ({
  problem: {
    status: 503,
    code: "auth_not_configured",
    detail: `No credentials are configured, so the API is closed. Set API_KEYS, OPERATOR_KEY_HASH or JWT_ISSUER (${docsPage("keys.md")} of the package troupe); on your own machine, TROUPE_OPEN=1 opens it to local requests.`,
  },
});

const LOCAL: Principal = {
  id: "local",
  tenant: "local",
  scopes: SCOPES,
  kind: "local",
  name: null,
  expires_at: null,
};

/**
 * Allows every request that is local (see `localProblem`). One with a credential has the rights of the credential, or is refused.
 *
 * @param origins the pages and programs besides those of this machine
 * @param sent the caller that a request's credential stands for; undefined without one
 */
export function localOnly(
  origins: ReadonlySet<string>,
  sent: (request: Request) => Promise<Principal | Refusal | undefined>,
): Authenticate {
  return async (request) => {
    const { host, searchParams } = new URL(request.url);
    const get = (name: string): string | null => request.headers.get(name);
    const problem = isLocalHost(host)
      ? localProblem(get("host"), get, origins)
      : notLocal("Host", host);
    if (problem !== undefined) return { problem };
    const hasCredential = get("authorization") !== null || searchParams.has("token");
    const caller = hasCredential ? await sent(request) : undefined;
    return caller ?? localCaller(request);
  };
}

/** The developer, who acts in any tenant: a Worker of one's own gives its users tenants of theirs. */
function localCaller({ headers }: Request): Principal | Refusal {
  const tenant = headers.get(TENANT_HEADER);
  if (tenant === null) return LOCAL;
  return isTenantId(tenant) ? { ...LOCAL, tenant } : invalidTenant();
}

/**
 * Refuses requests that did not come through the front server. `wrangler dev` takes the URL of a request from a header
 * that any client can send, so behind it the Host header proves nothing; the front server checks the real one.
 */
export function behindFront(key: string | undefined, authenticate: Authenticate): Authenticate {
  if (key === undefined) return authenticate;
  return async (request) => {
    if (request.headers.get(FRONT_KEY_HEADER) === key) return authenticate(request);
    return { problem: { status: 403, code: "not_local", detail: INTERNAL_PORT } };
  };
}

const INTERNAL_PORT =
  "This port is internal. Send the request to the address that `npm start` prints.";

/**
 * Why a request is refused by a server that is open to this machine only. Programs on the machine are allowed; web pages
 * of other sites are not, though the browser that shows them runs here: their requests carry a foreign Origin, or a
 * foreign Host once their name was rebound to this address, or at least the browser's statement that the request crosses
 * sites.
 *
 * @param host the Host header; null when there is none
 * @param header reads any other header
 * @param origins those that the setting ALLOWED_ORIGINS names: pages, extensions of browsers, desktop programs
 */
export function localProblem(
  host: string | null,
  header: (name: string) => string | null,
  origins: ReadonlySet<string>,
): Problem | undefined {
  if (host !== null && !isLocalHost(host)) return notLocal("Host", host);
  const origin = header("origin");
  // A page that sends no referrer has no origin either; of such a page of ours the browser says that it is ours.
  if (origin === "null" && header("sec-fetch-site") === "same-origin") return undefined;
  if (origin !== null) {
    const isAllowed = isLocalOrigin(origin) || origins.has(origin);
    return isAllowed ? undefined : notLocal("Origin", origin, remedyFor(origin));
  }
  if (header("sec-fetch-site") !== "cross-site") return undefined;
  return notLocal("Sec-Fetch-Site", "cross-site");
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** @param host with or without a port */
export function isLocalHost(host: string): boolean {
  return LOCAL_HOSTS.has(host.replace(/:\d+$/, "").toLowerCase());
}

function isLocalOrigin(origin: string): boolean {
  const match = /^https?:\/\/([^/]+)$/i.exec(origin);
  return match?.[1] !== undefined && isLocalHost(match[1]);
}

function remedyFor(origin: string): string {
  // Pages without an origin of their own all have this one.
  if (origin === "null") return "";
  return ` If you trust this page or program, start the server with ALLOWED_ORIGINS=${beginningOf(origin, 100)}.`;
}

function notLocal(header: string, value: string, remedy = ""): Problem {
  return {
    status: 403,
    code: "not_local",
    detail: `This server answers local requests only; ${header} is ${JSON.stringify(beginningOf(value, 100))}.${remedy}`,
  };
}
