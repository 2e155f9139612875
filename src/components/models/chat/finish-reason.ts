import type { FinishReason } from "../../../core/models/chat-completion-client.ts";
import { ModelError, type ModelErrorKind } from "../../../core/models/model-error.ts";
import type { UsageByModel } from "../../../core/models/request-usage.ts";

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
export function finishReasonOf(
  input: string | null | undefined,
  spent?: UsageByModel,
): FinishReason {
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
