import { invalid, type ProblemError } from "../problem.ts";

/** `/v1/teams/{team}/files/` has as many segments. */
const SEGMENTS_BEFORE = 5;

/**
 * The path of a file in the URL of a request: each segment is decoded once, and none may change where the path leads. Which
 * names a workspace can have is the workspace's to say.
 *
 * @throws ProblemError 422
 */
export function filePathOf(url: string): string {
  const segments = new URL(url).pathname.split("/").slice(SEGMENTS_BEFORE).map(decode);
  const problem = problemOf(segments);
  if (problem === undefined) return segments.join("/");
  throw invalidPath(problem);
}

function problemOf(segments: readonly string[]): string | undefined {
  if (segments.some((name) => name === "" || name === "." || name === ".."))
    return "must not have empty names, . or ..";
  if (segments.some((name) => name.includes("/") || name.includes("\\")))
    return "must separate names with plain slashes";
  return undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw invalidPath("must be UTF-8 in percent-encoding");
  }
}

function invalidPath(message: string): ProblemError {
  return invalid("invalid_path", `The path of the file is invalid: it ${message}.`, [
    { path: "path", message },
  ]);
}
