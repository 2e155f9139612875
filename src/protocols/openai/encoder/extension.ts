import type { HumanRequest, RunInfo } from "../../../contract/run.ts";
import { imageDataUri } from "../../../core/models/images.ts";
import type { End } from "./answer-item.ts";

/** What OpenAI's objects have no field for: the field `troupe` of an answer. */
export interface AnswerExtension {
  team_id: string;
  run_id: string;
  stop_reason?: string;
  /** What the run waits for, without the calls of the client's tools. */
  requests?: Omit<HumanRequest, "context">[];
  /** Images of the answer, as `data:` URLs. */
  images?: string[];
  /** The code of a failed run. */
  error_code?: string;
  /** Parameters of the request that have no effect. */
  ignored?: readonly string[];
}

export function extensionOf(
  end: End,
  { id, team_id }: RunInfo,
  { images, ignored }: { images: readonly string[]; ignored: readonly string[] },
): AnswerExtension {
  const requests =
    end.type === "waiting"
      ? end.requests
          .filter(({ kind }) => kind !== "tool")
          .map(({ context: _context, ...request }) => request)
      : [];
  return {
    team_id,
    run_id: id,
    ...(end.type === "completed" && end.stopReason !== null && { stop_reason: end.stopReason }),
    ...(end.type === "failed" && { error_code: end.problem.code }),
    ...(ignored.length > 0 && { ignored }),
    ...(requests.length > 0 && { requests }),
    ...(images.length > 0 && { images: images.map((data) => imageDataUri({ data })) }),
  };
}
