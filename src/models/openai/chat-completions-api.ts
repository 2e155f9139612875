import type { ChatCompletionChunk } from "openai/resources/chat/completions";
import { readCompletion } from "./read-completion.ts";
import { RequestBodies, type RequestSettings } from "./request-body.ts";
import { readEvent } from "./server-events.ts";
import { StreamReader } from "./stream-reader.ts";
import type { WireApi } from "./wire-api.ts";

/** OpenAI's chat completions, as many servers speak them. */
export function chatCompletionsApi(settings: RequestSettings): WireApi<ChatCompletionChunk> {
  const { model, modelInfo, maker } = settings;
  const served = { model, family: modelInfo.family, maker };
  const bodies = new RequestBodies(settings);
  return {
    write: (messages, options, stream) => bodies.write(messages, options, stream),
    read: (answer) => readCompletion(answer, served),
    readEvent,
    reader: () => new StreamReader(served),
  };
}
