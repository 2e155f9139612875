import type { ChatRequest } from "./chat-request.ts";
import { thoughtful, voiceOf } from "./makers/request.ts";
import { completionBody, completionChunks, type Completion } from "./completion.ts";

/** How an API writes its answers. */
export interface AnswerFormat {
  /** Content type of a streamed answer. */
  streamType: string;
  /** @param broken leaves out the reply */
  whole(completion: Completion, broken: boolean, request: ChatRequest): object;
  /** @param broken leaves out the reply */
  chunks(completion: Completion, request: ChatRequest, broken: boolean): Iterable<string>;
  error(message: string, type: string, code: string | null, param?: string): string;
  /** An error in the middle of a stream. */
  errorEvent(message: string, code: string): string;
  /** Text in a stream that means nothing. */
  filler: string;
  /** Half a chunk. */
  half: string;
  /** After the last chunk. */
  end: string;
}

/** An error body like OpenAI's. */
export function errorBody(
  message: string,
  type: string,
  code: string | null,
  param?: string,
): string {
  return JSON.stringify({ error: { message, type, param: param ?? null, code } });
}

/** Answers of OpenAI's chat completions: server-sent events, or one JSON object. */
export const openAIFormat: AnswerFormat = {
  streamType: "text/event-stream; charset=utf-8",
  whole: (completion, broken, request) => ({
    ...completionBody(
      thoughtful(completion, request),
      voiceOf(thoughtful(completion, request), request),
    ),
    ...(broken ? { choices: [] } : {}),
  }),
  *chunks(completion, request, broken) {
    const includeUsage = request.stream_options?.include_usage === true;
    const thought = thoughtful(completion, request);
    for (const chunk of completionChunks(thought, includeUsage, voiceOf(thought, request)))
      yield broken ? chunk.replace(/"choices":\[.*\]/, '"choices":[]') : chunk;
  },
  error: errorBody,
  errorEvent: (message, code) => `data: ${errorBody(message, "server_error", code)}\n\n`,
  filler: ": cut\n\n",
  half: 'data: {"id":"chatcmpl-fake","choices":[{"index":0,"del',
  end: "data: [DONE]\n\n",
};
