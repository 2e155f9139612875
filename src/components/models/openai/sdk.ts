import type { ClientOptions, OpenAI } from "openai";
import { SdkCache } from "../http/sdk-cache.ts";

type Given = Pick<ClientOptions, "baseURL" | "apiKey" | "organization" | "defaultHeaders">;

/** OpenAI's SDKs, without settings from the environment. */
export const openAISdks = new SdkCache<Given, OpenAI>(async () => {
  const { OpenAI } = await import("openai/client");
  return (given, options) =>
    new OpenAI({
      organization: null,
      ...given,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
      ...options,
    });
});
