import type { ClientOptions, OpenAI } from "openai";
import type { OpenAIDependencies } from "./dependencies.ts";

type Given = Pick<
  ClientOptions,
  "baseURL" | "apiKey" | "organization" | "defaultHeaders" | "defaultQuery"
>;

/**
 * The SDK with nothing taken from the environment behind our back. It neither retries (whoever calls counts attempts),
 * nor follows redirects (they could lead elsewhere with the key), nor logs. It is loaded here, because it is half of
 * the Worker's code and many an isolate answers its requests without a model.
 */
export async function createSdk(given: Given, { fetch }: OpenAIDependencies): Promise<OpenAI> {
  const { OpenAI } = await import("openai/client");
  return new OpenAI({
    organization: null,
    ...given,
    project: null,
    adminAPIKey: null,
    webhookSecret: null,
    maxRetries: 0,
    logLevel: "off",
    fetchOptions: { redirect: "manual" },
    ...(fetch === undefined ? {} : { fetch }),
  });
}
