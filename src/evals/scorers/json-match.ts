import * as z from "zod";
import { errorMessage, ValueError } from "../../core/errors.ts";
import { listIssues } from "../../core/issues.ts";
import { jsonObjectSchema } from "../../core/json-object.ts";
import { isJsonObject, type Json, sortedJson } from "../../core/json.ts";
import { JsonSchema } from "../../core/json-schema/json-schema.ts";
import { keysOfPath, valueAt } from "../../core/rules/path.ts";
import { extractJson } from "../../core/text/model-json.ts";
import { type Score, type ScoredRun, scorerDefinition, verdict } from "./scorer.ts";

const pathSchema = z
  .string()
  .refine((path) => keysOfPath(path) !== undefined, "must be a path, such as order.items[0].price");

const schemaSchema = jsonObjectSchema.superRefine((schema, context) => {
  try {
    void new JsonSchema(schema);
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    context.addIssue({ code: "custom", message: error.message });
  }
});

const configSchema = z.strictObject({
  /** A JSON Schema that the output must match. */
  schema: schemaSchema.optional(),
  /** Paths whose values must be those of `expected`, or paths with their values. */
  fields: z.union([z.array(pathSchema).min(1), z.record(pathSchema, z.json())]).optional(),
});

/**
 * Compares the JSON in the output: with a schema, with values of single fields or, without both, with all of `expected`. The score is
 * the share of the fields that are right.
 */
export const jsonMatch = scorerDefinition("JsonMatch", configSchema, ({ schema, fields }) => {
  const checked = schema && new JsonSchema(schema);
  return (run) => {
    let value: Json;
    try {
      value = extractJson(run.output);
    } catch (error) {
      return verdict(false, errorMessage(error));
    }
    const issues = checked?.check(value) ?? [];
    if (issues.length > 0)
      return verdict(false, `does not match the schema: ${listIssues(issues)}`);
    if (fields !== undefined) return compared(value, wantedFields(fields, run));
    if (checked !== undefined) return verdict(true, "");
    return verdict(sortedJson(value) === sortedJson(expectedOf(run)), "is not the expected JSON");
  };
});

function wantedFields(
  fields: readonly string[] | Readonly<Record<string, Json>>,
  run: ScoredRun,
): [path: string, wanted: Json | undefined][] {
  if (!Array.isArray(fields)) return Object.entries(fields);
  const expected = expectedOf(run);
  return fields.map((path: string) => [path, valueAt(expected, keysOfPath(path) ?? [])]);
}

function compared(value: Json, wanted: [path: string, wanted: Json | undefined][]): Score {
  const wrong = wanted.filter(([path, one]) => {
    const found = valueAt(value, keysOfPath(path) ?? []);
    return sortedJson(found ?? null) !== sortedJson(one ?? null);
  });
  const score = 1 - wrong.length / wanted.length;
  const reasons = wrong.map(([path, one]) => `${path} is not ${JSON.stringify(one ?? null)}`);
  return { score, pass: wrong.length === 0, reason: reasons.join("; ") };
}

function expectedOf({ item }: ScoredRun): Json {
  const { expected } = item;
  if (expected === undefined) throw new ValueError(`the item "${item.id}" has no "expected"`);
  const parsed = typeof expected === "string" ? extractJson(expected) : expected;
  return isJsonObject(parsed) || Array.isArray(parsed) ? parsed : expected;
}
