import * as z from "zod";
import { ValueError } from "../errors.ts";
import type { Json } from "../json.ts";
import { Pattern } from "../json-schema/pattern/pattern.ts";
import { isTooDeep } from "../json-schema/pattern/work-limit.ts";
import { keysOfPath, LONGEST_PATH } from "./path.ts";

const MOST_CONDITIONS = 50;
const MOST_CHOICES = 500;
const LONGEST_PATTERN = 1_000;
/** Characters of the JSON of a value that arguments are compared with. */
const LONGEST_VALUE = 10_000;
/** Levels of the same. */
const MOST_LEVELS = 20;

/** The comparisons of a value; a condition has one of them. */
export const COMPARISONS = ["above", "below", "equals", "in", "matches", "missing"] as const;
type Comparison = (typeof COMPARISONS)[number];

const pathSchema = z
  .string()
  .refine(
    (path) => keysOfPath(path) !== undefined,
    `must be a path of at most ${LONGEST_PATH} characters and 20 keys, such as amount, order.items[0].price or order["net.total"]`,
  );

const boundSchema = z.number().refine(isKept, {
  error: "is beyond the integers that JavaScript keeps exactly",
});

/** With a name, so that declarations of the schemas that have it import it from here. */
export interface ComparedSchema extends z.ZodType<Json> {}

/** Not `z.json()` itself: its schema is recursive, and an OpenAPI document cannot contain it in place. */
const comparedSchema: ComparedSchema = z
  .unknown()
  .refine((value) => z.json().safeParse(value).success, {
    error: "must be JSON",
    abort: true,
  })
  .refine((value) => !isTooDeep(value, MOST_LEVELS), {
    error: `must not be nested deeper than ${MOST_LEVELS} levels`,
    abort: true,
  })
  .refine((value) => JSON.stringify(value).length <= LONGEST_VALUE, {
    error: `must have at most ${LONGEST_VALUE} characters of JSON`,
    abort: true,
  })
  .refine(keepsNumbers, {
    error: "has an integer beyond those that JavaScript keeps exactly",
  }) as z.ZodType<Json>;

const patternSchema = z
  .string()
  .max(LONGEST_PATTERN)
  .superRefine((source, context) => {
    try {
      void new Pattern(source);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  });

const comparisons = {
  above: boundSchema.optional(),
  below: boundSchema.optional(),
  equals: comparedSchema.optional(),
  in: z.array(comparedSchema).min(1).max(MOST_CHOICES).optional(),
  matches: patternSchema.optional(),
  missing: z.boolean().optional(),
};

const valueConditionSchema = z
  .strictObject({ argument: pathSchema, ...comparisons })
  .superRefine((condition, context) => onlyOne(condition, context));

const callsAbove = z.strictObject({ above: z.number().int().min(0) });

export const conditionSchema = z
  .strictObject({
    argument: pathSchema.optional(),
    calls_in_run: z.union([z.literal(true), callsAbove], "must be true").optional(),
    ...comparisons,
  })
  .superRefine((condition, context) => {
    const { argument, calls_in_run: calls } = condition;
    const issue = (path: string, message: string): void =>
      context.addIssue({ code: "custom", path: [path], message });
    if (argument === undefined && calls === undefined) {
      return issue("argument", "is missing: name an argument of the call, or use calls_in_run");
    }
    if (calls === undefined) return onlyOne(condition, context);
    if (argument !== undefined) return issue("calls_in_run", "belongs to a condition of its own");
    for (const name of COMPARISONS) {
      if (name === "above" && calls === true) continue;
      if (condition[name] !== undefined) issue(name, "cannot be compared with calls_in_run");
    }
    if (calls !== true) return;
    const { above } = condition;
    if (above === undefined) issue("above", "is missing: calls_in_run needs it");
    else if (!Number.isInteger(above) || above < 0) issue("above", "must be a number of calls");
  });

/** Conditions on the values of a JSON object, for example of an event that came in. */
export const valueConditionsSchema = z.array(valueConditionSchema).max(MOST_CONDITIONS);

/** The same for a call of a tool, with the number of its calls. */
export const conditionsSchema = z.array(conditionSchema).max(MOST_CONDITIONS);

/** One condition: a path with one comparison, or the calls of the run with `above`. */
export type Condition = z.infer<typeof conditionSchema>;

function onlyOne(
  condition: { readonly [name in Comparison]?: unknown },
  context: z.RefinementCtx,
): void {
  const [first, second] = COMPARISONS.filter((name) => condition[name] !== undefined);
  if (first === undefined) {
    const message = `is missing: compare the argument with one of ${COMPARISONS.join(", ")}`;
    context.addIssue({ code: "custom", path: ["above"], message });
  } else if (second !== undefined) {
    const message = `stands beside ${first}: a condition has one comparison; any condition of the list is enough`;
    context.addIssue({ code: "custom", path: [second], message });
  }
}

function isKept(number: number): boolean {
  return !Number.isInteger(number) || Number.isSafeInteger(number);
}

function keepsNumbers(value: unknown): boolean {
  if (typeof value === "number") return isKept(value);
  return typeof value !== "object" || value === null || Object.values(value).every(keepsNumbers);
}
