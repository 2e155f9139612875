import type { JsonObject } from "../../../core/json.ts";
import type { TokenLogprob } from "../../../core/models/chat-completion-client.ts";
import type { CallPart } from "../chat/call-assembly.ts";
import { countIn, nameIn, objectIn, textIn } from "../http/fields.ts";
import { callsIn, logprobsIn } from "../openai/chat-completions/chunk.ts";

/** The owner of the data in `troupe`, as messages name it. */
export const OLLAMA = "ollama";

/** A line of a streamed answer of `/api/chat`, or the whole of one that is not streamed, each field with its type. */
export interface ChatAnswer {
  content: string;
  thinking: string;
  calls: CallPart[];
  logprobs: TokenLogprob[];
  done: boolean;
  doneReason: string | undefined;
  promptTokens: number | undefined;
  completionTokens: number | undefined;
}

/** @throws ModelError `bad_response` for an answer that cannot be read */
export function chatAnswerOf(value: JsonObject): ChatAnswer {
  const message = objectIn(value["message"], "message");
  return {
    content: textIn(message?.["content"], "content"),
    thinking: textIn(message?.["thinking"], "thinking"),
    calls: callsIn(message?.["tool_calls"]),
    logprobs: logprobsIn(value["logprobs"]),
    done: value["done"] === true,
    doneReason: nameIn(value["done_reason"]),
    promptTokens: countIn(value["prompt_eval_count"]),
    completionTokens: countIn(value["eval_count"]),
  };
}
