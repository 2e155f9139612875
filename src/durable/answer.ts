import * as z from "zod";
import { TroupeError } from "../core/errors.ts";
import { issuesOf } from "../core/issues.ts";
import { type JsonObject, jsonObjectSchema } from "../core/json.ts";
import type { Answer, Question } from "../core/run/turn-context.ts";

const answerSchemas = {
  input: z.strictObject({ content: z.union([z.string(), jsonObjectSchema]) }),
  approval: z.strictObject({
    approved: z.boolean(),
    reason: z.string().optional(),
    arguments: jsonObjectSchema.optional(),
  }),
} satisfies Record<Question["kind"], z.ZodType>;

/** Checks an answer against the kind of its question. @throws TroupeError `invalid_answer` */
export function parseAnswer({ kind }: Question, input: JsonObject): Answer {
  const parsed = answerSchemas[kind].safeParse(input);
  if (parsed.success) return parsed.data;
  const wanted = kind === "input" ? "{ content }" : "{ approved, reason?, arguments? }";
  throw new TroupeError("invalid_answer", `the answer to a question of kind ${kind} is ${wanted}`, {
    issues: issuesOf(parsed.error),
  });
}
