import type { HumanRequest, RunInfo, RunNote } from "../../../../contract/run.ts";
import { fileDataUri, isFile } from "../../../../core/models/attached-files.ts";
import { imageDataUri } from "../../../../core/models/images.ts";
import type { Attached, End } from "./answer-item.ts";

/** The data that OpenAI's objects have no field for: the field `troupe` of an answer. */
export interface AnswerExtension {
  team_id: string;
  run_id: string;
  stop_reason?: string;
  /** The open questions of the run, without the calls of the client's tools. */
  requests?: Omit<HumanRequest, "context">[];
  /** Images of the answer, as `data:` URLs. */
  images?: string[];
  /** Files of the answer, as OpenAI's requests have them. */
  files?: { filename: string; file_data: string }[];
  /** The code of a failed run. */
  error_code?: string;
  /** Parameters of the request that have no effect. */
  ignored?: readonly string[];
  /** Omissions in requests to models. */
  notes?: RunNote[];
}

export function extensionOf(
  end: End,
  { id, team_id, notes }: RunInfo,
  { attached, ignored }: { attached: readonly Attached[]; ignored: readonly string[] },
): AnswerExtension {
  const files = attached.filter(isFile);
  const images = attached.filter((one) => !isFile(one));
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
    ...(notes && { notes }),
    ...(requests.length > 0 && { requests }),
    ...(images.length > 0 && { images: images.map(imageDataUri) }),
    ...(files.length > 0 && {
      files: files.map((file) => ({ filename: file.name, file_data: fileDataUri(file) })),
    }),
  };
}
