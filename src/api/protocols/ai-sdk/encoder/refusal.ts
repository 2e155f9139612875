import type { Problem } from "../../../../contract/problem.ts";
import type { ProblemFormat } from "../../../http/endpoint/endpoint.ts";
import { problemResponse } from "../../../http/endpoint/problem.ts";

/** A problem as the text that the SDK makes the message of an error: its code, what is wrong, and where. */
export function problemText({ code, detail, errors = [] }: Problem): string {
  const places = errors.map(({ path, message }) => `${path || "body"}: ${message}`);
  return [`${code}: ${detail}`, ...places].join("\n");
}

/** A refused request: the SDK's clients show the body's text. */
export const refusal: ProblemFormat = {
  media: "text/plain",
  write(problem, headers) {
    const { status, headers: written } = problemResponse(problem, headers);
    written.set("content-type", "text/plain; charset=utf-8");
    return new Response(problemText(problem), { status, headers: written });
  },
};
