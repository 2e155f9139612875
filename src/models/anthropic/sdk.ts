import type { BaseAnthropic, ClientOptions } from "@anthropic-ai/sdk/client";
import { SdkCache } from "../http/sdk-cache.ts";

type Given = Pick<ClientOptions, "baseURL" | "apiKey" | "defaultHeaders">;

/**
 * Anthropic's SDKs without their resources, which are two thirds of the code: requests are posted by path. The SDK is the
 * last one for the API version 2023-06-01: later versions know neither `temperature` nor `top_p` and `top_k`.
 */
export const anthropicSdks = new SdkCache<Given, BaseAnthropic>(async () => {
  const { BaseAnthropic } = await import("./base-sdk.ts");
  // A call has the span of its step: the SDK's own spans are off.
  const none = { authToken: null, webhookKey: null, openTelemetry: false } as const;
  return (given, options) => new BaseAnthropic({ ...given, ...none, ...options });
});
