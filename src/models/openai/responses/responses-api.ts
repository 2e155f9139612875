import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import type { LLMMessage } from "../../../core/models/llm-messages.ts";
import type { ServerHabits } from "../server-habits.ts";
import type { WireApi } from "../wire-api.ts";
import { readResponse } from "./read-response.ts";
import { ResponsesBodies, type ResponsesSettings } from "./request-body.ts";
import { readEvent, ResponseReader } from "./stream-reader.ts";

/** OpenAI's Responses API, used without a state on the server: every request has the whole conversation. */
export interface ResponsesApi extends WireApi<ResponseStreamEvent> {
  /** Leaves out the reasoning of these answers from now on; returns whether there was any. */
  dropReasoning(messages: readonly LLMMessage[]): boolean;
}

export function responsesApi(settings: ResponsesSettings, habits: ServerHabits): ResponsesApi {
  const { maker, model } = settings;
  const answers = { maker, model, family: settings.modelInfo.family };
  const bodies = new ResponsesBodies(settings, habits);
  return {
    write: (messages, options, stream) => ({ text: bodies.write(messages, options, stream) }),
    read: (answer) => readResponse(answer, answers),
    readEvent,
    reader: () => new ResponseReader(answers),
    dropReasoning: (messages) => bodies.dropReasoning(messages),
  };
}
