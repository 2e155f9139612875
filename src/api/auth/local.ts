import { SCOPES } from "../../contract/constants.ts";
import type { Problem } from "../../contract/problem.ts";
import type { Authenticate, Principal } from "./principal.ts";

/** Carries the key of the front server that `npm start` runs. */
export const FRONT_KEY_HEADER = "troupe-front-key";

/** Refuses every request: the deployment has no credentials configured. */
export const closed: Authenticate = async () => ({
  problem: {
    status: 503,
    code: "auth_not_configured",
    detail:
      "No credentials are configured, so the API is closed. Set API_KEYS, OPERATOR_KEY_HASH or JWT_ISSUER (docs/keys.md); on your own machine, TROUPE_OPEN=1 opens it to local requests.",
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

/** Allows every request that is local (see `localProblem`). */
export const localOnly: Authenticate = async (request) => {
  const { host } = new URL(request.url);
  const get = (name: string): string | null => request.headers.get(name);
  const problem = isLocalHost(host) ? localProblem(get("host"), get) : notLocal("Host", host);
  return problem === undefined ? LOCAL : { problem };
};

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
 */
export function localProblem(
  host: string | null,
  header: (name: string) => string | null,
): Problem | undefined {
  if (host !== null && !isLocalHost(host)) return notLocal("Host", host);
  const origin = header("origin");
  if (origin !== null) return isLocalOrigin(origin) ? undefined : notLocal("Origin", origin);
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

function notLocal(header: string, value: string): Problem {
  return {
    status: 403,
    code: "not_local",
    detail: `This server answers local requests only; ${header} is ${JSON.stringify(value.slice(0, 100))}.`,
  };
}
