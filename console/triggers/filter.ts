import type { PutTrigger } from "troupe/client";

export type Filter = PutTrigger["filter"];
type Condition = NonNullable<Filter>["when"][number];
type Value = NonNullable<Condition["in"]>[number];

/** The comparisons of a condition, in the order of the form. */
export const COMPARISONS = {
  equals: "is",
  in: "is one of",
  above: "is above",
  below: "is below",
  matches: "matches",
  missing: "is missing",
} as const;

export type Comparison = keyof typeof COMPARISONS;

export const COMPARISON_NAMES = Object.keys(COMPARISONS) as Comparison[];

/** A condition as it is typed. */
export interface TypedCondition {
  argument: string;
  comparison: Comparison;
  value: string;
}

/** The conditions of a filter as they are typed. */
export function typedFilter(filter: Filter): readonly TypedCondition[] {
  return (filter?.when ?? []).map((condition) => {
    const comparison = COMPARISON_NAMES.find((name) => condition[name] !== undefined) ?? "equals";
    return {
      argument: condition.argument,
      comparison,
      value: typedValue(comparison, condition[comparison]),
    };
  });
}

/** The filter of typed conditions; null without conditions. */
export function filterOf(conditions: readonly TypedCondition[]): Filter {
  if (conditions.length === 0) return null;
  return { when: conditions.map(conditionOf) };
}

/** True if each condition has a path, and a value that its comparison can have. */
export function filterIsComplete(conditions: readonly TypedCondition[]): boolean {
  return conditions.every(({ argument, comparison, value }) => {
    if (argument.trim() === "") return false;
    if (comparison === "missing") return true;
    if (comparison !== "above" && comparison !== "below") return value.trim() !== "";
    return value.trim() !== "" && Number.isFinite(Number(value));
  });
}

function conditionOf({ argument: path, comparison, value }: TypedCondition): Condition {
  const argument = path.trim();
  const text = value.trim();
  switch (comparison) {
    case "above":
    case "below":
      return { argument, [comparison]: Number(text) };
    case "equals":
      return { argument, equals: parsed(text) };
    case "in":
      return { argument, in: listOf(text) };
    case "matches":
      return { argument, matches: value };
    case "missing":
      return { argument, missing: text !== "false" };
  }
}

function typedValue(comparison: Comparison, value: unknown): string {
  if (comparison !== "in" || !Array.isArray(value)) {
    return comparison === "matches" ? String(value) : typedJson(value);
  }
  const texts = value.map(typedJson);
  const isPlain = texts.every((text) => !/[,[\]{}"]|^\s|\s$/.test(text));
  return isPlain ? texts.join(", ") : JSON.stringify(value);
}

/** A text as it is, unless it would be read as another value of JSON. */
function typedJson(value: unknown): string {
  return typeof value === "string" && parsed(value) === value && value.trim() === value
    ? value
    : JSON.stringify(value);
}

function listOf(text: string): Condition["in"] {
  const list = parsed(text);
  return Array.isArray(list) ? list : text.split(",").map((one) => parsed(one.trim()));
}

function parsed(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch {
    return text;
  }
}
