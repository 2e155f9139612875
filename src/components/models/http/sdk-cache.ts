import type { OutgoingDependencies } from "../../../outgoing/dependencies.ts";
import type { OutgoingFetch } from "../../../outgoing/limited-fetch.ts";
import { outgoingFetch } from "../../../outgoing/outgoing-fetch.ts";
import { readErrorText } from "./body-reader.ts";

/** Limit of SDKs kept per `fetch`. */
const MOST_KEPT = 50;

/** Options of every SDK: no retries (the caller counts attempts), no redirects (they could lead elsewhere with the key), no log. */
export interface SdkOptions {
  maxRetries: 0;
  logLevel: "off";
  fetchOptions: { redirect: "manual" };
  fetch: OutgoingFetch;
}

/**
 * SDKs by `fetch` and options. Creating one takes a millisecond, because it has an object for every part of its
 * provider's API, and teams of one deployment mostly use the same server with the same key. An SDK stores nothing of a
 * request, so any number of teams may share it.
 */
export class SdkCache<Given, Sdk> {
  readonly #load: () => Promise<(given: Given, options: SdkOptions) => Sdk>;
  readonly #made = new WeakMap<OutgoingFetch, Map<string, Sdk>>();

  /** @param load imports the SDK: it is large, and many isolates never call a model */
  constructor(load: () => Promise<(given: Given, options: SdkOptions) => Sdk>) {
    this.#load = load;
  }

  /** @param given the SDK's options, as JSON */
  async get(given: Given, dependencies: OutgoingDependencies): Promise<Sdk> {
    const make = await this.#load();
    const send = outgoingFetch(dependencies);
    const known = this.#made.get(send) ?? new Map<string, Sdk>();
    this.#made.set(send, known);
    const key = JSON.stringify(given);
    const sdk =
      known.get(key) ??
      make(given, {
        maxRetries: 0,
        logLevel: "off",
        fetchOptions: { redirect: "manual" },
        fetch: withShortErrors(send),
      });
    // In order of use, the last used at the end.
    known.delete(key);
    known.set(key, sdk);
    for (const oldest of known.keys()) {
      if (known.size <= MOST_KEPT) break;
      known.delete(oldest);
    }
    return sdk;
  }
}

/** An SDK reads an error answer as a whole, whatever its size. A good one is read, and counted, by Troupe. */
function withShortErrors(send: OutgoingFetch): OutgoingFetch {
  return async (input, init = {}) => {
    const response = await send(input, { ...init, limit: "own" });
    if (response.ok) return response;
    const { status, statusText, headers } = response;
    const text = await readErrorText(response, init.signal);
    return new Response(text, { status, statusText, headers });
  };
}
