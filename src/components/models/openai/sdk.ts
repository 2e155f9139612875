import type { ClientOptions, OpenAI } from "openai";
import { isJsonObject } from "../../../core/json.ts";
import { SdkCache } from "../http/sdk-connection.ts";

type Given = Pick<ClientOptions, "baseURL" | "apiKey" | "organization" | "defaultHeaders">;

/** OpenAI's SDKs, without settings from the environment. */
export const openAISdks = new SdkCache<Given, OpenAI>(async () => {
  const { OpenAI } = await import("openai/client");
  /** The SDK keeps only the `error` of a body; a wait and an id of the request stand beside it. */
  class WholeErrors extends OpenAI {
    protected override makeStatusError(
      ...[status, body, ...rest]: Parameters<OpenAI["makeStatusError"]>
    ): ReturnType<OpenAI["makeStatusError"]> {
      return super.makeStatusError(status, isJsonObject(body) ? { error: body } : body, ...rest);
    }
  }
  return (given, options) =>
    new WholeErrors({
      organization: null,
      ...given,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
      ...options,
    });
});
