import type { RunInfo } from "../../../contract/run.ts";
import type { JsonObject } from "../../../core/json.ts";

/** The metadata of a UI message while its run goes on. */
export function runMetadata({
  id,
  team_id,
  status,
  queue_position,
  retry_of,
}: RunInfo): JsonObject {
  return { run: { id, team_id, status, queue_position, retry_of } };
}

/** What it becomes at the end. @param usage of the whole run so far, where it is known */
export function endMetadata(
  { id, team_id, status, stop_reason }: Pick<RunInfo, "id" | "team_id" | "status" | "stop_reason">,
  usage?: RunInfo["usage"],
): JsonObject {
  const { prompt_tokens: inputTokens = 0, completion_tokens: outputTokens = 0 } = usage ?? {};
  return {
    run: { id, team_id, status, stop_reason },
    ...(usage && {
      usage: { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens },
    }),
  };
}
