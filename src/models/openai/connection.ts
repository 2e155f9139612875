import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Secrets } from "../../outgoing/dependencies.ts";
import type { Sdk, SdkConnection } from "../http/sdk-connection.ts";
import { ServerEvents } from "../http/server-events.ts";
import { toModelError } from "./errors.ts";
import { readEvent } from "./server-events.ts";

/** A connection to a server of chat completions. */
export function chatCompletionsConnection(
  sdk: Promise<Sdk>,
  path: string,
  secrets: Secrets,
): SdkConnection<ChatCompletionChunk> {
  return {
    sdk,
    path,
    secrets,
    chunks: (response) => new ServerEvents(response, (event) => readEvent(event, response.headers)),
    toError: toModelError,
  };
}
