import * as z from "zod";
import type { JsonObject } from "../core/json.ts";

/** RFC 9457, with a stable code and the places that are wrong. Some codes have further members, for example a `run_id`. */
export const problemSchema = z.looseObject({
  type: z.string().describe("A URN made of the code."),
  title: z.string().describe("The same for every problem with this code."),
  status: z.number().int().min(400).max(599),
  detail: z.string().describe("What is wrong with this request."),
  code: z
    .string()
    .regex(/^[a-z0-9_]+$/)
    .describe("Stable; branch on this one."),
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .optional()
    .describe("The places in the request that are wrong, for example component.config.name."),
});

/** A problem document as a client gets it. */
export type ProblemDocument = z.infer<typeof problemSchema>;

/** The data of a problem document. Not an Error, because errors lose their fields between Durable Objects. */
export interface Problem extends Pick<ProblemDocument, "status" | "code" | "detail" | "errors"> {
  /** Seconds, for 429 and 503. */
  retry_after?: number;
  /** False when waiting does not help, so that no client retries the request automatically. */
  repeatable?: false;
  /** Further members of the document, for example the busy team's `run_id`. */
  extra?: JsonObject;
}
