import { type ChatRequest, parseChatRequest } from "./chat-request.ts";
import { openAIModel } from "./openai-models.ts";
import type { Refusal } from "./refusal.ts";

/** Checks the body of a request to OpenAI's `/v1/chat/completions`, also for what its models refuse there. */
export function parseOpenAIRequest(body: unknown): ChatRequest | Refusal {
  const request = parseChatRequest(body);
  return "problem" in request ? request : (refusal(request) ?? request);
}

function refusal(request: ChatRequest): Refusal | undefined {
  const { model, tools, reasoning_effort, temperature, max_tokens } = request;
  const known = openAIModel(model);
  // https://developers.openai.com/api/docs/models/gpt-5-pro
  if (known.responsesOnly)
    return {
      status: 404,
      problem: "This model is only supported in v1/responses and not in v1/chat/completions.",
    };
  // https://github.com/openai/openai-openapi/issues/541, https://github.com/danny-avila/LibreChat/issues/14355
  if (tools !== undefined && known.toolsRefused(reasoning_effort))
    return {
      problem:
        `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. ` +
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
    };
  const longId = longCallId(request);
  if (longId !== undefined) return longId;
  if (!known.reasons) return undefined;
  // https://developers.openai.com/api/docs/guides/latest-model#parameter-compatibility
  const reasoning = (reasoning_effort ?? known.defaultEffort) !== "none";
  if (reasoning && temperature != null && temperature !== 1)
    return {
      code: "unsupported_value",
      problem: `Unsupported value: 'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`,
    };
  // https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
  if (max_tokens != null)
    return {
      code: "unsupported_parameter",
      problem:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    };
  return undefined;
}

/** https://github.com/vercel/ai/issues/5171 */
function longCallId({ messages }: ChatRequest): Refusal | undefined {
  for (const [index, message] of messages.entries())
    for (const [call, { id }] of callsOf(message).entries())
      if (id.length > 40)
        return {
          code: "string_above_max_length",
          problem: `Invalid 'messages[${index}].tool_calls[${call}].id': string too long. Expected a string with maximum length 40, but got a string with length ${id.length} instead.`,
        };
  return undefined;
}

const callsOf = (message: ChatRequest["messages"][number]) =>
  message.role === "assistant" ? (message.tool_calls ?? []) : [];
