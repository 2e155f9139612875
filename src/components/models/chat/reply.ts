import type {
  CreateResult,
  FinishReason,
  TokenLogprob,
} from "../../../core/models/chat-completion-client.ts";
import { type TokenUsage, usageDetails } from "../../../core/models/request-usage.ts";
import type { FunctionCall, MakerData } from "../../../core/models/llm-messages.ts";
import { splitThought } from "./thought.ts";
import { toolNameOf } from "./tool-name.ts";

const FINISH_REASONS: { readonly [reason: string]: FinishReason } = {
  stop: "stop",
  end_turn: "stop",
  length: "length",
  content_filter: "content_filter",
  tool_calls: "function_calls",
  function_calls: "function_calls",
};

/** The name and the family of a model. */
export interface ModelNames {
  model: string;
  family: string;
}

/** A model's reply, streamed or not. */
export interface Reply {
  text: string;
  /** Reasoning from a field of its own; null when there was none. */
  reasoning: string | null;
  toolCalls: FunctionCall[];
  finishReason: string | null | undefined;
  usage: TokenUsage;
  logprobs: TokenLogprob[] | null;
  /** Provider data to send back. */
  troupe?: MakerData | undefined;
}

/** The id of a call whose server gives none: results are matched to calls by their ids. */
export function newCallId(): string {
  return `call_${crypto.randomUUID().slice(0, 8)}`;
}

/** A reply as a result. Text beside tool calls is a thought, like reasoning beside text. */
export function toResult(reply: Reply, family: string): CreateResult {
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
  if (toolCalls.length > 0) {
    const content = toolCalls.map((call) => ({ ...call, name: toolNameOf(call.name) }));
    return { finish_reason: "function_calls", content, ...rest, thought: text || null };
  }
  const { thought, content } =
    reasoning === null && family === "r1"
      ? splitThought(text)
      : { thought: reasoning, content: text };
  const finish_reason = FINISH_REASONS[reply.finishReason?.toLowerCase() ?? ""] ?? "unknown";
  return { finish_reason, content, ...rest, thought };
}
