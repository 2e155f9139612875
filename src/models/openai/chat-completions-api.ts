import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { readCompletion } from "./read-completion.ts";
import { RequestBodies, type RequestSettings } from "./request-body.ts";
import { readEvent } from "./server-events.ts";
import { StreamReader } from "./stream-reader.ts";
import type { WireApi } from "./wire-api.ts";

/** OpenAI's chat completions, as many servers speak them. */
export function chatCompletionsApi(settings: RequestSettings): WireApi<ChatCompletionChunk> {
  const { family } = settings.modelInfo;
  const bodies = new RequestBodies(settings);
  return {
    write: (messages, options, stream) => bodies.write(messages, options, stream),
    read: (answer) => readCompletion(answer, family),
    readEvent,
    reader: () => new StreamReader(family),
  };
}
