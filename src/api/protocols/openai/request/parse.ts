import * as z from "zod";
import type { Issue } from "../../../../core/errors.ts";
import { issuesOf } from "../../../../core/issues.ts";
import { isJsonObject, type JsonObject } from "../../../../core/json.ts";
import { invalid, ProblemError } from "../../../http/endpoint/problem.ts";
import { answerSchema } from "../../../../contract/run.ts";
import { openObjectSchema } from "../../../../contract/common.ts";
import { userSchema } from "../../../../contract/user.ts";

/** Troupe's own parameters of a request, below `troupe`. */
export const troupeSchema = z.strictObject({
  show: z.enum(["final", "all"], 'must be "final" or "all"').default("final"),
  on_conflict: z
    .enum(
      ["reject", "queue", "interrupt", "steer"],
      'must be "reject", "queue", "interrupt" or "steer"',
    )
    .default("reject"),
  timeout_seconds: z.number().positive().optional(),
  max_total_tokens: z.number().int().positive().optional(),
  /** By the ids of open questions, as in `POST /v1/teams/{team}/runs/{run}/requests/{request}`. */
  answers: z.record(z.string(), answerSchema).default({}),
});

export type TroupeParameters = z.output<typeof troupeSchema>;

/** Clients send an empty text for no user. */
const namedUserSchema = z.union([userSchema, z.literal("")]).nullish();

/** The fields of both kinds of requests. Other fields of OpenAI's requests have no effect. */
export const commonShape = {
  model: z.string("is missing: team:{id} or template:{name}"),
  stream: z.boolean().nullish(),
  metadata: openObjectSchema.nullish(),
  user: namedUserSchema,
  safety_identifier: namedUserSchema,
  troupe: troupeSchema.prefault({}),
};

/** The fields of a request with the defaults of those that ask for nothing. */
export function askedFor<
  T extends Partial<Record<"metadata" | "user" | "safety_identifier" | "tool_choice", unknown>>,
>(request: T): T {
  return {
    ...request,
    metadata: request.metadata ?? {},
    user: request.user || null,
    safety_identifier: request.safety_identifier || null,
    tool_choice: request.tool_choice ?? "auto",
  };
}

/** @throws ProblemError 400 or 422 */
export function parseRequest<T extends z.ZodType>(schema: T, value: unknown): z.output<T> {
  if (!isJsonObject(value)) {
    throw new ProblemError({
      status: 400,
      code: "malformed_json",
      detail: "The body must be a JSON object.",
    });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw refused(issuesOf(result.error));
}

export function refused(issues: readonly Issue[]): ProblemError {
  return invalid("invalid_request", "The request is invalid:", issues);
}

export function refusedAt(path: string, message: string): ProblemError {
  return refused([{ path, message }]);
}

/**
 * Refuses parameters that ask for what a team cannot do.
 *
 * @param rules by the parameter's name, its values that are not a request for it, besides null and an empty list
 * @throws ProblemError 422
 */
export function refuseUnsupported(
  body: JsonObject,
  rules: Readonly<Record<string, readonly unknown[]>>,
): void {
  const issues = Object.entries(rules).flatMap(([name, harmless]) => {
    const value = body[name];
    const isEmpty = Array.isArray(value) && value.length === 0;
    if (value === undefined || value === null || isEmpty || harmless.includes(value)) return [];
    const allowed = harmless.map((one) => JSON.stringify(one));
    const only = allowed.length > 0 ? `; only ${allowed.join(" and ")} can be given` : "";
    return [{ path: name, message: `is not supported${only}` }];
  });
  if (issues.length > 0) {
    throw invalid("unsupported_parameter", "A parameter is not supported:", issues);
  }
}
