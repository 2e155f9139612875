import type { OutgoingDependencies } from "../../../outgoing/dependencies.ts";

/** Limit of SDKs kept per `fetch`. */
const MOST_KEPT = 50;

/** Options of every SDK: no retries (the caller counts attempts), no redirects (they could lead elsewhere with the key), no log. */
export interface SdkOptions {
  maxRetries: 0;
  logLevel: "off";
  fetchOptions: { redirect: "manual" };
  fetch?: typeof fetch;
}

/**
 * SDKs by `fetch` and options. Creating one takes a millisecond, because it has an object for every part of its
 * provider's API, and teams of one deployment mostly use the same server with the same key. An SDK stores nothing of a
 * request, so any number of teams may share it.
 */
export class SdkCache<Given, Sdk> {
  readonly #load: () => Promise<(given: Given, options: SdkOptions) => Sdk>;
  readonly #made = new WeakMap<typeof fetch, Map<string, Sdk>>();

  /** @param load imports the SDK: it is large, and many isolates never call a model */
  constructor(load: () => Promise<(given: Given, options: SdkOptions) => Sdk>) {
    this.#load = load;
  }

  /** @param given the SDK's options, as JSON */
  async get(given: Given, dependencies: OutgoingDependencies): Promise<Sdk> {
    const make = await this.#load();
    const send = dependencies.fetch ?? fetch;
    const known = this.#made.get(send) ?? new Map<string, Sdk>();
    this.#made.set(send, known);
    const key = JSON.stringify(given);
    const sdk =
      known.get(key) ??
      make(given, {
        maxRetries: 0,
        logLevel: "off",
        fetchOptions: { redirect: "manual" },
        ...(dependencies.fetch === undefined ? {} : { fetch: dependencies.fetch }),
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
