import * as z from "zod";
import { shortForm, ValueError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import { Pattern } from "../../core/json-schema/pattern/pattern.ts";
import { isTooMuch } from "../../core/json-schema/pattern/work-limit.ts";
import { scorerDefinition, verdict, wantedOf } from "./scorer.ts";

const valueSchema = z.union([z.string(), z.array(z.string()).min(1)]);

const textConfigSchema = z.strictObject({
  /** The text, or several of which any will do. Default: the item's `expected`. */
  value: valueSchema.optional(),
  ignore_case: z.boolean().default(false),
});

/** Passes where the output is the expected text, apart from white space around it. */
export const exactMatch = scorerDefinition("ExactMatch", textConfigSchema, (config) => (run) => {
  const wanted = textsOf(wantedOf(config.value, run));
  const output = folded(run.output.trim(), config);
  const matches = wanted.some((text) => output === folded(text.trim(), config));
  return verdict(matches, `is not ${listed(wanted)}`);
});

/** Passes where the output contains the expected text. */
export const includes = scorerDefinition("Includes", textConfigSchema, (config) => (run) => {
  const wanted = textsOf(wantedOf(config.value, run));
  const output = folded(run.output, config);
  const matches = wanted.some((text) => output.includes(folded(text, config)));
  return verdict(matches, `does not contain ${listed(wanted)}`);
});

const MOST_CHARACTERS = 1_000;

const patternSchema = z
  .string()
  .max(MOST_CHARACTERS)
  .superRefine((source, context) => {
    try {
      void new Pattern(source);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  });

/** Passes where the pattern matches somewhere in the output. It matches in linear time, because outputs and patterns come from outside. */
export const regex = scorerDefinition(
  "Regex",
  z.strictObject({ pattern: patternSchema }),
  ({ pattern }) => {
    const compiled = new Pattern(pattern);
    return ({ output }) => {
      try {
        return verdict(compiled.test(output), `does not match ${pattern}`);
      } catch (error) {
        if (!isTooMuch(error)) throw error;
        throw new ValueError(`the output is too long for the pattern ${pattern}`, { cause: error });
      }
    };
  },
);

const numericSchema = z.strictObject({
  /** The largest difference that passes. */
  tolerance: z.number().min(0),
  /** True if the tolerance is a share of the expected number. */
  relative: z.boolean().default(false),
  /** Default: the item's `expected`. */
  value: z.number().optional(),
});

/** Passes where the last number of the output is close to the expected one. */
export const numericClose = scorerDefinition("NumericClose", numericSchema, (config) => (run) => {
  const given = wantedOf(config.value, run);
  const wanted = typeof given === "string" ? lastNumber(given) : given;
  if (typeof wanted !== "number") throw notOf("a number", given);
  const found = lastNumber(run.output);
  if (found === undefined) return verdict(false, "has no number");
  const tolerance = config.tolerance * (config.relative ? Math.abs(wanted) : 1);
  // 0.1 + 0.2 and 0.3 differ by their rounding only.
  const rounding = Number.EPSILON * Math.max(Math.abs(found), Math.abs(wanted));
  const isClose = Math.abs(found - wanted) <= tolerance + rounding;
  return verdict(isClose, `${found} is not within ${tolerance} of ${wanted}`);
});

const NUMBER = /[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?/g;

function lastNumber(text: string): number | undefined {
  const found = text.match(NUMBER)?.at(-1);
  return found === undefined ? undefined : Number(found.replaceAll(",", ""));
}

function textsOf(value: Json | undefined): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map((one) => {
    if (typeof one === "object" || one === undefined)
      throw notOf("a text or a list of texts", value);
    return String(one);
  });
}

function notOf(wanted: string, value: unknown): ValueError {
  return new ValueError(`the expected value must be ${wanted}, not ${shortForm(value)}`);
}

function folded(text: string, { ignore_case }: { ignore_case: boolean }): string {
  return ignore_case ? text.toLowerCase() : text;
}

function listed(texts: readonly string[]): string {
  return texts.map((text) => shortForm(text)).join(" or ");
}
