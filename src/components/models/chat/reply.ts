import type {
  CreateResult,
  FinishReason,
  TokenLogprob,
} from "../../../core/models/chat-completion-client.ts";
import { ModelError, type ModelErrorKind } from "../../../core/models/model-error.ts";
import type { TokenUsage, UsageByModel } from "../../../core/models/request-usage.ts";
import type { FunctionCall, MakerData } from "../../../core/models/llm-messages.ts";
import {
  type SplitText,
  splitThought,
  type ThoughtTags,
} from "../../../core/models/thought-tags.ts";
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
  const { prompt_tokens, completion_tokens, ...details } = usage;
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

const FINISHED: { readonly [reason: string]: FinishReason } = {
  stop: "stop",
  end_turn: "stop",
  stop_sequence: "stop",
  eos: "stop",
  eos_token: "stop",
  complete: "stop",
  completed: "stop",
  length: "length",
  max_tokens: "length",
  max_output_tokens: "length",
  model_length: "length",
  model_context_window_exceeded: "length",
  tool_calls: "function_calls",
  function_call: "function_calls",
  function_calls: "function_calls",
  tool_use: "function_calls",
};

/** Reasons for which an answer is not one, whatever has arrived of it. */
const FAILURES: readonly (readonly [
  reasons: RegExp,
  kind: ModelErrorKind,
  message: (reason: string) => string,
])[] = [
  [
    /^(malformed_(function_call|tool_call|response)|unexpected_tool_call|too_many_tool_calls|missing_thought_signature|invalid_tool_calls?)$/,
    "bad_response",
    (reason) => `The model wrote a call that its server cannot read (${reason})`,
  ],
  [
    /content_?filter|^(safety|image_safety|recitation|blocklist|prohibited_content|spii|language|sensitive|refusal|moderation|guardrail_intervened|blocked)$/,
    "refused",
    (reason) => `The provider's filter stopped the answer (${reason})`,
  ],
  [
    /overload|^(load|busy|insufficient_system_resource|capacity|rate_limit(ed)?)$/,
    "server",
    (reason) => `The model server is overloaded and stopped the answer (${reason})`,
  ],
  [
    /error|^(failed|failure|abort(ed)?|cancel(l)?ed|timeout|timed_out|incomplete|interrupted)$/,
    "server",
    (reason) => `The model server stopped the answer with an error (${reason})`,
  ],
];

/**
 * The finish reason of an answer by the names of AutoGen.
 *
 * @param spent the usage of the answer
 * @throws ModelError for a reason that is a failure
 */
function finishReasonOf(input: string | null | undefined, spent: UsageByModel): FinishReason {
  const reason = (input ?? "")
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  const known = FINISHED[reason];
  if (known !== undefined) return known;
  const failure = FAILURES.find(([reasons]) => reasons.test(reason));
  if (failure === undefined) return "unknown";
  const [, kind, message] = failure;
  throw new ModelError(kind, message(input ?? ""), { spent });
}
