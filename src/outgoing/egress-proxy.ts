import { EgressError, type Reach } from "./egress.ts";
import { NoConnectionError } from "./request-error.ts";

/** Names the URL that a request to the proxy is for. */
export const TARGET_HEADER = "troupe-egress-target";

/** The addresses that the name in that URL may resolve to. */
export const REACH_HEADER = "troupe-egress-reach";

/**
 * The header of an answer that the proxy gives itself; it says why the target gave none: `denied`, `unsent` where no connection
 * was made, or `failed`.
 */
export const OUTCOME_HEADER = "troupe-egress-outcome";

/**
 * A `fetch` over the proxy that `npm start` runs. The runtime does not report which address a name resolved to; the proxy
 * resolves it, checks the address and connects to the one it checked, so that a public name cannot lead into the private
 * network.
 *
 * @param proxy its URL, which holds its key
 * @param reach which addresses a name may resolve to
 * @throws EgressError from the returned function when the name leads to an address that is not allowed
 * @throws TypeError from the returned function when the target cannot be reached: a {@link NoConnectionError} where it got nothing
 */
export function proxiedFetch(proxy: string, reach: Reach): typeof fetch {
  return async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    const headers = new Headers(request.headers);
    headers.set(TARGET_HEADER, request.url);
    headers.set(REACH_HEADER, reach);
    const { method, body, signal } = request;
    const response = await fetch(proxy, { method, headers, body, signal, redirect: "manual" });
    const outcome = response.headers.get(OUTCOME_HEADER);
    if (outcome === null) return response;
    const message = await response.text();
    if (outcome === "denied") throw new EgressError(new URL(request.url).hostname, message);
    throw outcome === "unsent" ? new NoConnectionError(message) : new TypeError(message);
  };
}
