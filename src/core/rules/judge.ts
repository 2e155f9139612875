import type { Json } from "../json.ts";
import { Pattern } from "../json-schema/pattern/pattern.ts";
import { isTooMuch } from "../json-schema/pattern/work-limit.ts";
import { equal, order } from "./compare.ts";
import type { Condition } from "./condition.ts";
import { keysOfPath, valueAt } from "./path.ts";

/** `incomparable`: the value is missing, of another type, NaN, or too large to be searched. */
export type Outcome = "holds" | "fails" | "incomparable";

/** One condition, the value it looked at (null where there is none) and its outcome. */
export interface Judged {
  condition: Condition;
  value: Json;
  outcome: Outcome;
}

/** The values that conditions look at. */
export interface Judgeable {
  values: Json;
  /** The calls of the tool in the run, this one included; 0 for what is not a call. */
  callsInRun?: number;
}

/** Judges each condition by itself. A pure function of what it is given. */
export function judge(conditions: readonly Condition[], subject: Judgeable): Judged[] {
  return conditions.map((condition) => {
    const value = valueOf(condition, subject);
    return { condition, value: value ?? null, outcome: outcomeOf(condition, value) };
  });
}

/** True if any condition holds; one that cannot be compared does not. */
export function anyHolds(conditions: readonly Condition[], subject: Judgeable): boolean {
  return judge(conditions, subject).some(({ outcome }) => outcome === "holds");
}

function valueOf(
  { argument, calls_in_run }: Condition,
  { values, callsInRun = 0 }: Judgeable,
): Json | undefined {
  if (calls_in_run !== undefined) return callsInRun;
  const keys = keysOfPath(argument ?? "");
  return keys && valueAt(values, keys);
}

function outcomeOf(condition: Condition, value: Json | undefined): Outcome {
  const { calls_in_run: calls, below, equals, matches, missing } = condition;
  const above = typeof calls === "object" ? calls.above : condition.above;
  if (missing !== undefined) return answer(isMissing(value) ? missing : !missing);
  if (above !== undefined) return ordered(order(value, above), 1);
  if (below !== undefined) return ordered(order(value, below), -1);
  if (equals !== undefined) return answer(equal(value, equals));
  if (condition.in !== undefined) return among(value, condition.in);
  return matches !== undefined && typeof value === "string"
    ? answer(found(matches, value))
    : "incomparable";
}

function isMissing(value: Json | undefined): boolean {
  return value === undefined || value === null;
}

function ordered(sign: -1 | 0 | 1 | undefined, wanted: -1 | 1): Outcome {
  return answer(sign === undefined ? undefined : sign === wanted);
}

function answer(holds: boolean | undefined): Outcome {
  if (holds === undefined) return "incomparable";
  return holds ? "holds" : "fails";
}

/** Comparable with a list that has a value of its type. */
function among(value: Json | undefined, choices: readonly Json[]): Outcome {
  const outcomes = choices.map((choice) => equal(value, choice));
  return answer(outcomes.find(Boolean) ?? outcomes.find((outcome) => outcome === false));
}

/** Undefined where the search would take too long. */
function found(pattern: string, text: string): boolean | undefined {
  try {
    return new Pattern(pattern).test(text);
  } catch (error) {
    if (!isTooMuch(error)) throw error;
    return undefined;
  }
}
