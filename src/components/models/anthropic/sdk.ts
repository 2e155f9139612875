import type { BaseAnthropic } from "@anthropic-ai/sdk/client";
import { SdkCache } from "../http/sdk-cache.ts";

interface Given {
  baseURL: string;
  apiKey: string;
  defaultHeaders: Record<string, string>;
}

/** The API version with AutoGen's `temperature`, `top_p` and `top_k`; the one that the SDK speaks by itself has none of them. */
const API_VERSION = "2023-06-01";

/**
 * Anthropic's SDKs without their resources, which are two thirds of the code: requests are posted by path.
 * The key is sent as `x-api-key`, which servers of this API version expect, instead of the SDK's `authorization`.
 */
export const anthropicSdks = new SdkCache<Given, BaseAnthropic>(async () => {
  const { BaseAnthropic } = await import("./base-sdk.ts");
  return ({ baseURL, apiKey, defaultHeaders }, options) =>
    new BaseAnthropic({
      baseURL,
      apiKey,
      defaultHeaders: {
        "anthropic-version": API_VERSION,
        authorization: null,
        "x-api-key": apiKey,
        ...lowerCase(defaultHeaders),
      },
      webhookKey: null,
      // A call has the span of its step: the SDK's own spans are off.
      openTelemetry: false,
      ...options,
    });
});

/** Headers with the names in the form in which they replace the ones above. */
function lowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
