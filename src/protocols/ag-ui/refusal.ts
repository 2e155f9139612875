import type { WriteProblem } from "../../http/endpoint.ts";
import { problemResponse } from "../../http/problem.ts";

/** A problem as clients of the protocol read it: `HttpAgent` gives its callers the members of a body with this type. */
export const refusal: WriteProblem = (problem, headers) =>
  problemResponse(problem, { ...headers, "content-type": "application/json" });
