import { type ClientOptions, OpenAI } from "openai";
import type { OpenAIDependencies } from "./dependencies.ts";

type Given = Pick<
  ClientOptions,
  "baseURL" | "apiKey" | "organization" | "defaultHeaders" | "defaultQuery"
>;

/**
 * The SDK with nothing taken from the environment behind our back. It neither retries (whoever calls counts attempts),
 * nor follows redirects (they could lead elsewhere with the key), nor logs.
 */
export function createSdk(given: Given, { fetch }: OpenAIDependencies): OpenAI {
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
