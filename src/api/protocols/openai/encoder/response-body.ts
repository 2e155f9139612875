import type {
  Response,
  ResponseOutputItem,
  ResponseUsage,
} from "openai/resources/responses/responses";
import type { RunInfo } from "../../../../contract/run.ts";
import type { TokenUsage } from "../../../../core/models/request-usage.ts";
import { clientMetadata } from "../request/response-settings.ts";
import { responseId } from "../request/ids.ts";
import type { Attached, End } from "./answer-item.ts";
import type { AnswerOptions } from "./answer-options.ts";
import { type AnswerExtension, extensionOf } from "./extension.ts";

/** A response object with Troupe's own fields. Clients make `output_text` themselves. */
export interface ResponseBody extends Omit<Response, "output_text" | "usage" | "user"> {
  /** Null while the response is in progress. */
  usage: ResponseUsage | null;
  store: boolean;
  presence_penalty: number;
  frequency_penalty: number;
  user: null;
  troupe: AnswerExtension;
}

/** The response of a run as it is. @param end undefined while the run is active */
export function responseBody(
  { model, team, after, previous, background, tools, given, ignored }: AnswerOptions,
  run: RunInfo,
  output: ResponseOutputItem[],
  end: End | undefined,
  attached: readonly Attached[] = [],
): ResponseBody {
  const status = statusOf(end, run);
  const ended = status !== "in_progress" && status !== "queued";
  return {
    id: responseId({ team, run: run.id, after }),
    object: "response",
    created_at: seconds(run.created_at),
    completed_at: status === "completed" && run.ended_at !== null ? seconds(run.ended_at) : null,
    status,
    background,
    error: end?.type === "failed" && status === "failed" ? failure(end) : null,
    incomplete_details: status === "incomplete" ? { reason: "max_output_tokens" } : null,
    model,
    output,
    conversation: { id: team },
    previous_response_id: previous,
    metadata: clientMetadata(run),
    usage: ended ? usageOf(end?.type === "completed" ? end.usage : run.usage) : null,
    troupe: extensionOf(end ?? { type: "unfinished" }, run, { attached, ignored }),
    // A response is kept as long as its team.
    store: true,
    tools: tools.map((name) => ({ type: "function", name, parameters: null, strict: null })),
    tool_choice: "auto",
    text: { format: { type: "text" } },
    instructions: null,
    ...(given as Partial<Pick<Response, "text" | "tool_choice" | "tools">>),
    // The defaults of settings that a request to a model has. A team has them in its component instead.
    access_programs: null,
    frequency_penalty: 0,
    max_output_tokens: null,
    max_tool_calls: null,
    parallel_tool_calls: true,
    presence_penalty: 0,
    prompt_cache_key: null,
    reasoning: null,
    safety_identifier: null,
    service_tier: "default",
    temperature: 1,
    top_logprobs: 0,
    top_p: 1,
    truncation: "disabled",
    user: null,
  };
}

function statusOf(end: End | undefined, { status }: RunInfo): NonNullable<Response["status"]> {
  switch (end?.type) {
    case undefined:
    case "unfinished":
    case "paused":
      return status === "queued" ? "queued" : "in_progress";
    case "completed":
    case "waiting":
    case "changed":
      return "completed";
    case "cancelled":
      return "cancelled";
    case "failed":
      return end.problem.code === "token_limit" ? "incomplete" : "failed";
  }
}

function failure({ problem }: End & { type: "failed" }): Response["error"] {
  return { code: "server_error", message: problem.detail };
}

function usageOf({
  prompt_tokens,
  completion_tokens,
  cached_tokens = 0,
  cache_write_tokens = 0,
  reasoning_tokens = 0,
}: TokenUsage): ResponseUsage {
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens, cache_write_tokens },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens },
    total_tokens: prompt_tokens + completion_tokens,
  };
}

function seconds(time: string): number {
  return Math.floor(new Date(time).getTime() / 1000);
}
