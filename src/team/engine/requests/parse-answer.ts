import * as z from "zod";
import { type Issue, TroupeError, ValueError } from "../../../core/errors.ts";
import { issuesOf, pathOf } from "../../../core/issues.ts";
import { jsonObjectSchema } from "../../../core/json-object.ts";
import { isJsonObject, type Json, type JsonObject, parsedJson } from "../../../core/json.ts";
import type { Answer } from "../../../core/turn/turn-context.ts";
import { toolParameters } from "../../../core/tools/function/tool-parameters.ts";
import type { QuestionRecord } from "../../storage/runs/question-record.ts";

/** Arguments as JSON text, which keeps all numbers. */
const argumentsText = z.string().transform((text, { issues }): JsonObject => {
  const value = parsedJson(text);
  if (isJsonObject(value)) return value;
  issues.push({ code: "custom", message: "must be a JSON object", input: text });
  return z.NEVER;
});

const answerSchemas = {
  input: z.strictObject({
    content: z.union([z.string(), jsonObjectSchema], "must be a text or a chat message"),
  }),
  approval: z.strictObject({
    approved: z.boolean("must be true or false"),
    reason: z.string().optional(),
    allow: z.enum(["run", "team"], 'must be "run" or "team"').optional(),
    revision: z.number().int().min(1).optional(),
    arguments: z.union([jsonObjectSchema, argumentsText], "must be a JSON object").optional(),
  }),
  tool: z.strictObject({
    content: z.string("must be a text"),
    is_error: z.boolean("must be true or false").optional(),
  }),
} satisfies Record<QuestionRecord["kind"], z.ZodType>;

const SHAPES = {
  input: "{ content }",
  approval: "{ approved, reason?, arguments?, allow?, revision? }",
  tool: "{ content, is_error? }",
} satisfies Record<QuestionRecord["kind"], string>;

/**
 * Checks an answer against its question. Edited arguments are read nearly as leniently as a model's: nulls
 * for optional parameters are dropped, numeric strings become numbers.
 *
 * @throws TroupeError `invalid_answer`
 */
export function parseAnswer(question: QuestionRecord, input: JsonObject): Answer {
  const { kind } = question;
  const parsed = answerSchemas[kind].safeParse(input);
  const isExact = typeof input["arguments"] === "string";
  if (parsed.success) return withArguments(question, parsed.data, isExact);
  throw new TroupeError(
    "invalid_answer",
    `an answer to a request of the kind "${kind}" must be ${SHAPES[kind]}`,
    {
      issues: issuesOf(parsed.error),
    },
  );
}

/** Edited arguments must fit the tool's parameters: unlike a model, the human can still correct them. */
function withArguments(
  { tool_call: call }: QuestionRecord,
  answer: Answer,
  isExact: boolean,
): Answer {
  if (!("approved" in answer)) return answer;
  if (answer.allow !== undefined && !answer.approved) {
    const message = "only an approval may count for other calls";
    throw new TroupeError("invalid_answer", `allow: ${message}`, {
      issues: [{ path: "allow", message }],
    });
  }
  if (answer.arguments === undefined) return answer;
  if (call === undefined) {
    throw badArguments("only a tool call has arguments; code is approved or refused unchanged");
  }
  if (!answer.approved) throw badArguments("only an approved call may have other arguments");
  if (!isExact) requireSafeIntegers(answer.arguments);
  if (call.parameters === undefined) return answer;
  return { ...answer, arguments: fitting(answer.arguments, call.name, call.parameters) };
}

function fitting(raw: JsonObject, tool: string, parameters: JsonObject): JsonObject {
  let known: JsonObject;
  try {
    known = toolParameters(tool, parameters, false).parse(raw);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    throw badArguments(error.message, error.issues);
  }
  // Unknown arguments of a model are dropped silently; a human who writes one expects an effect.
  const unknown = Object.keys(raw).filter((key) => raw[key] !== null && !Object.hasOwn(known, key));
  if (unknown.length === 0) return known;
  const message = `is not a parameter of ${tool}`;
  throw badArguments(
    message,
    unknown.map((path) => ({ path, message })),
  );
}

/** @throws TroupeError `invalid_answer` for integers that may have been others before they were parsed */
function requireSafeIntegers(input: JsonObject): void {
  const unsafe = unsafeIntegersIn(input);
  if (unsafe.length > 0) {
    const message =
      "is beyond the integers that JavaScript keeps exactly: send its digits as a text";
    throw badArguments(
      `${unsafe.join(", ")} ${message}`,
      unsafe.map((path) => ({ path, message })),
    );
  }
}

/** The paths of integers that may have been others before the body was parsed. */
function unsafeIntegersIn(value: Json, keys: readonly PropertyKey[] = []): string[] {
  if (typeof value === "number") {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? [pathOf(keys)] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  const entries: [PropertyKey, Json][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, item]) => unsafeIntegersIn(item, [...keys, key]));
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
