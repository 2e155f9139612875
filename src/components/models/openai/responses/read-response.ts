import { APIError } from "openai/error";
import type {
  Response,
  ResponseOutputItem,
  ResponseUsage,
} from "openai/resources/responses/responses";
import type { CreateResult } from "../../../../core/models/chat-completion-client.ts";
import { ModelError } from "../../../../core/models/model-error.ts";
import { type TokenUsage, usageDetails } from "../../../../core/models/request-usage.ts";
import { newCallId, toResult } from "../../chat/reply.ts";
import { argumentsOf, logprobsOf } from "../chat-completions/read-completion.ts";
import { makerData } from "./maker-data.ts";

/** The client's data for readers of answers. */
export interface AnswerSettings {
  maker: string;
  model: string;
  family: string;
}

const UNFINISHED: ReadonlySet<unknown> = new Set(["in_progress", "queued", "cancelled"]);

/** How an answer ended, streamed or not. */
export type AnswerEnd = Pick<Response, "status" | "incomplete_details" | "usage">;

/**
 * Reads the body of an answer that was not streamed.
 * @param body not validated: its type is only what it should be
 * @throws ModelError `bad_response` when it is not a response
 * @throws APIError for a response that failed
 */
export function readResponse(body: unknown, settings: AnswerSettings): CreateResult {
  const response = body as Response | string | null | undefined;
  if (response === null || response === undefined || response === "")
    throw new ModelError("bad_response", "The model server's answer is empty");
  if (typeof response === "string")
    throw new ModelError("bad_response", "The model server did not answer with JSON");
  if (response.status === "failed") throw failure(response.error);
  if (UNFINISHED.has(response.status))
    throw new ModelError("bad_response", `The model server's response is ${response.status}`);
  if (!Array.isArray(response.output))
    throw new ModelError("bad_response", "The model server's answer has no output");
  return resultOf(response.output, response, settings);
}

/** Codes of transient errors. Others, even in the middle of an answer, are about the request. */
const PASSING = new Set(["server_error", "rate_limit_exceeded", "vector_store_timeout"]);

/** The error in place of an answer's continuation. */
export function failure(error: { code?: unknown; message?: unknown } | null | undefined): APIError {
  const { code } = error ?? {};
  const status = typeof code === "string" && !PASSING.has(code) ? 400 : undefined;
  return new APIError(status, error ?? {}, "The response failed", undefined);
}

/**
 * The items of an answer as a result.
 * @param end undefined where the server did not say how the answer ended
 */
export function resultOf(
  items: readonly ResponseOutputItem[],
  end: AnswerEnd | undefined,
  { maker, model, family }: AnswerSettings,
): CreateResult {
  const output = items.map(withCallId);
  const text = textOf(output);
  const reasoning = reasoningOf(output);
  const toolCalls = output.flatMap((item) =>
    item.type === "function_call"
      ? [{ id: item.call_id, name: item.name, arguments: argumentsOf(item.arguments) }]
      : [],
  );
  const logprobs = partsOf(output).flatMap((part) =>
    part.type === "output_text" ? (logprobsOf(part.logprobs) ?? []) : [],
  );
  const result = toResult(
    {
      // Beside tool calls, a model explains itself only in its reasoning.
      text: toolCalls.length > 0 ? text || (reasoning ?? "") : text,
      reasoning,
      toolCalls,
      finishReason: end && finishReason(end),
      usage: usageOf(end?.usage),
      logprobs: logprobs.length > 0 ? logprobs : null,
    },
    family,
  );
  const troupe = makerData(output, text, { maker, model });
  return troupe === undefined ? result : { ...result, troupe };
}

/** Servers of other providers may leave out the id of a call. */
function withCallId(item: ResponseOutputItem): ResponseOutputItem {
  return item.type === "function_call" && !item.call_id ? { ...item, call_id: newCallId() } : item;
}

function finishReason({ status, incomplete_details: details }: AnswerEnd): string {
  if (status !== "incomplete") return "stop";
  const reason = details?.reason ?? "unknown";
  return reason === "max_output_tokens" ? "length" : reason;
}

function partsOf(output: readonly ResponseOutputItem[]) {
  return output.flatMap((item) => (item.type === "message" ? item.content : []));
}

function textOf(output: readonly ResponseOutputItem[]): string {
  return output
    .flatMap((item) => (item.type === "message" ? [item.content] : []))
    .map((parts) =>
      parts.map((part) => (part.type === "output_text" ? part.text : part.refusal)).join(""),
    )
    .filter((text) => text !== "")
    .join(BETWEEN_PARTS);
}

/** The summaries of reasoning or, for models that show it, the reasoning itself; null if there is none. */
function reasoningOf(output: readonly ResponseOutputItem[]): string | null {
  const parts = output.flatMap((item) =>
    item.type === "reasoning" ? [...(item.content ?? []), ...(item.summary ?? [])] : [],
  );
  return parts.length === 0 ? null : parts.map(({ text }) => text).join(BETWEEN_PARTS);
}

/** Between the parts of a summary, and between messages, of which an answer may have several. */
export const BETWEEN_PARTS = "\n\n";

/** Some servers omit the usage or parts of it. */
function usageOf(usage: Partial<ResponseUsage> | null | undefined): TokenUsage {
  return {
    prompt_tokens: usage?.input_tokens ?? 0,
    completion_tokens: usage?.output_tokens ?? 0,
    ...usageDetails({
      cached_tokens: usage?.input_tokens_details?.cached_tokens,
      cache_write_tokens: usage?.input_tokens_details?.cache_write_tokens,
      reasoning_tokens: usage?.output_tokens_details?.reasoning_tokens,
    }),
  };
}
