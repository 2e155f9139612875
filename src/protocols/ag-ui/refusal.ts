import type { Refusal } from "../../http/endpoint.ts";
import { problemResponse } from "../../http/problem.ts";

/** A problem as clients of the protocol read it: `HttpAgent` gives its callers the members of a body with this type. */
export const refusal: Refusal = {
  media: "application/json",
  write: (problem, headers) =>
    problemResponse(problem, { ...headers, "content-type": "application/json" }),
};
