import * as z from "zod";
import { type Issue, TroupeError, ValueError } from "../../core/errors.ts";
import { issuesOf } from "../../core/issues.ts";
import { jsonObjectSchema } from "../../core/json-object.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Answer } from "../../core/turn/turn-context.ts";
import { toolParameters } from "../../core/tools/function/tool-parameters.ts";
import type { QuestionRecord } from "../storage/runs/question-record.ts";

const answerSchemas = {
  input: z.strictObject({
    content: z.union([z.string(), jsonObjectSchema], "must be a text or a chat message"),
  }),
  approval: z.strictObject({
    approved: z.boolean("must be true or false"),
    reason: z.string().optional(),
    arguments: jsonObjectSchema.optional(),
  }),
  tool: z.strictObject({
    content: z.string("must be a text"),
    is_error: z.boolean("must be true or false").optional(),
  }),
} satisfies Record<QuestionRecord["kind"], z.ZodType>;

const SHAPES = {
  input: "{ content }",
  approval: "{ approved, reason?, arguments? }",
  tool: "{ content, is_error? }",
} satisfies Record<QuestionRecord["kind"], string>;

/**
 * Checks an answer against its question. Edited arguments are read as leniently as a model's: nulls
 * for optional parameters are dropped, numeric strings become numbers.
 *
 * @throws TroupeError `invalid_answer`
 */
export function parseAnswer(question: QuestionRecord, input: JsonObject): Answer {
  const { kind } = question;
  const parsed = answerSchemas[kind].safeParse(input);
  if (parsed.success) return withArguments(question, parsed.data);
  throw new TroupeError(
    "invalid_answer",
    `an answer to a request of the kind "${kind}" must be ${SHAPES[kind]}`,
    {
      issues: issuesOf(parsed.error),
    },
  );
}

/** Edited arguments must fit the tool's parameters: unlike a model, the human can still correct them. */
function withArguments({ tool_call: call }: QuestionRecord, answer: Answer): Answer {
  if (!("approved" in answer) || answer.arguments === undefined) return answer;
  if (call === undefined) {
    throw badArguments("only a tool call has arguments; code is approved or refused unchanged");
  }
  if (!answer.approved) throw badArguments("only an approved call may have other arguments");
  if (call.parameters === undefined) return answer;
  return { ...answer, arguments: fitting(answer.arguments, call.name, call.parameters) };
}

function fitting(given: JsonObject, tool: string, parameters: JsonObject): JsonObject {
  let known: JsonObject;
  try {
    known = toolParameters(tool, parameters, false).parse(given);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw badArguments(error.message, error.issues);
  }
  // Unknown arguments of a model are dropped silently; a human who writes one expects an effect.
  const unknown = Object.keys(given).filter(
    (key) => given[key] !== null && !Object.hasOwn(known, key),
  );
  if (unknown.length === 0) return known;
  const message = `is not a parameter of ${tool}`;
  throw badArguments(
    message,
    unknown.map((path) => ({ path, message })),
  );
}

function badArguments(message: string, issues: readonly Issue[] = []): TroupeError {
  const below = issues.map(({ path, message: found }) => ({
    path: path === "" ? "arguments" : `arguments.${path}`,
    message: found,
  }));
  return new TroupeError("invalid_answer", `arguments: ${message}`, {
    issues: below.length > 0 ? below : [{ path: "arguments", message }],
  });
}
