import type { ClientOptions, OpenAI } from "openai";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";

type Given = Pick<
  ClientOptions,
  "baseURL" | "apiKey" | "organization" | "defaultHeaders" | "defaultQuery"
>;

/** Limit of SDKs kept per `fetch`. */
const MOST_KEPT = 50;

/**
 * SDKs by `fetch` and options. Creating one takes a millisecond, because it has an object for every part of OpenAI's
 * API, and teams of one deployment mostly use the same server with the same key. An SDK keeps nothing of a request, so
 * any number of teams may share it.
 */
const made = new WeakMap<typeof fetch, Map<string, OpenAI>>();

/**
 * The SDK, with no setting read from the environment. It does not retry (the caller counts attempts), follow redirects
 * (they could lead elsewhere with the key) or log. It is loaded lazily: it is half of the Worker's code, and many
 * isolates never call a model.
 */
export async function createSdk(given: Given, dependencies: OutgoingDependencies): Promise<OpenAI> {
  const { OpenAI } = await import("openai/client");
  const send = dependencies.fetch ?? fetch;
  const known = made.get(send) ?? new Map<string, OpenAI>();
  made.set(send, known);
  const key = JSON.stringify(given);
  const sdk =
    known.get(key) ??
    new OpenAI({
      organization: null,
      ...given,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
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
