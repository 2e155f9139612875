import type { ClientOptions, OpenAI } from "openai";
import type { OutgoingDependencies } from "../../outgoing/dependencies.ts";

type Given = Pick<
  ClientOptions,
  "baseURL" | "apiKey" | "organization" | "defaultHeaders" | "defaultQuery"
>;

/** Most SDKs kept per `fetch`. */
const MOST = 50;

/**
 * Those in use, by `fetch` and options. Making one takes a millisecond, because it comes with an object for every part
 * of OpenAI's API, and teams of one deployment mostly ask the same server with the same key. It keeps nothing of a
 * request, so any number of teams may share it.
 */
const made = new WeakMap<typeof fetch, Map<string, OpenAI>>();

/**
 * The SDK with nothing taken from the environment behind our back. It neither retries (whoever calls counts attempts),
 * nor follows redirects (they could lead elsewhere with the key), nor logs. It is loaded here, because it is half of
 * the Worker's code and many an isolate answers its requests without a model.
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
  // The one used last stands last.
  known.delete(key);
  known.set(key, sdk);
  for (const oldest of known.keys()) {
    if (known.size <= MOST) break;
    known.delete(oldest);
  }
  return sdk;
}
