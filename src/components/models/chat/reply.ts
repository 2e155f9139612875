import type { CreateResult, TokenLogprob } from "../../../core/models/chat-completion-client.ts";
import { type TokenUsage, usageDetails } from "../../../core/models/request-usage.ts";
import type { FunctionCall, MakerData } from "../../../core/models/llm-messages.ts";
import {
  type SplitText,
  splitThought,
  type ThoughtTags,
} from "../../../core/models/thought-tags.ts";
import { finishReasonOf } from "./finish-reason.ts";
import { toolNameOf } from "./tool-name.ts";

/** The name of a model, and how its answers are read. */
export interface AnsweringModel {
  model: string;
  thoughtTags: ThoughtTags;
}

/** A model's reply, streamed or not. */
export interface Reply {
  text: string;
  /** Reasoning from a field of its own; null when there was none. */
  reasoning: string | null;
  /** True if the text is the reason for which the model does not answer. */
  isRefusal?: boolean;
  toolCalls: FunctionCall[];
  finishReason: string | null | undefined;
  usage: TokenUsage;
  logprobs: TokenLogprob[] | null;
  /** Provider data to send back. */
  troupe?: MakerData | undefined;
}

/**
 * A reply as a result. Text beside tool calls is a thought, like reasoning beside text.
 *
 * @throws ModelError for a finish reason that is a failure
 */
export function toResult(reply: Reply, { model, thoughtTags }: AnsweringModel): CreateResult {
  const { text, reasoning, toolCalls, usage, logprobs, troupe } = reply;
  const { prompt_tokens, completion_tokens } = usage;
  const details = usageDetails(usage);
  const rest = {
    usage: { prompt_tokens, completion_tokens },
    ...(Object.keys(details).length > 0 && { usage_details: details }),
    cached: false,
    logprobs,
    ...(troupe && { troupe }),
  };
  const finish_reason = finishReasonOf(reply.finishReason, { [model]: usage });
  if (toolCalls.length > 0) {
    const content = toolCalls.map((call) => ({ ...call, name: toolNameOf(call.name) }));
    const split = splitBy(thoughtTags, text, true);
    const thought = together(split.thought, split.content) || null;
    return { finish_reason: "function_calls", content, ...rest, thought };
  }
  const { thought, content } = splitBy(thoughtTags, text, finish_reason === "length");
  return {
    finish_reason,
    content,
    ...rest,
    thought: together(reasoning, thought),
    ...(reply.isRefusal === true && { refusal: true }),
  };
}

function splitBy(thoughtTags: ThoughtTags, text: string, isCut: boolean): SplitText {
  return thoughtTags === "text" ? { thought: null, content: text } : splitThought(text, isCut);
}

function together(before: string | null, after: string | null): string | null {
  return before && after ? `${before}\n\n${after}` : before || after || (before ?? after);
}
