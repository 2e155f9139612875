import { beginningOf } from "troupe/client";
import type { HumanRequest } from "troupe/client";

type Matched = NonNullable<HumanRequest["matched"]>;

/** A longer value is cut. */
const LONGEST = 100;

/** The conditions that made a rule ask, each with the value that it found. */
export function reasonsOf(matched: Matched): string[] {
  const reasons = matched.map(({ condition, value }) => {
    const { argument, calls_in_run: calls, ...comparison } = condition as Record<string, unknown>;
    if (calls !== undefined) {
      const bound = comparison["above"] ?? (calls as { above?: unknown }).above;
      return `The run has more than ${shown(bound)} calls of this tool.`;
    }
    const [name = ""] = Object.keys(comparison);
    const found = value === null ? "missing" : shown(value);
    return `${String(argument)} is ${found} (rule: ${name} ${shown(comparison[name])}).`;
  });
  return [...new Set(reasons)];
}

/** The scopes and users that a rule names; undefined if it names none. */
export function approversOf(rule: unknown): string | undefined {
  const by = ruleWith<{ by?: readonly string[] }>(rule)?.by;
  return by?.map((name) => name.replace(/^user:/, "")).join(", ");
}

/** The number of people who have to approve. */
export function quorumOf(rule: unknown): number {
  return ruleWith<{ quorum?: number }>(rule)?.quorum ?? 1;
}

function ruleWith<Rule>(rule: unknown): Rule | undefined {
  return typeof rule === "object" && rule !== null ? (rule as Rule) : undefined;
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > LONGEST ? `${beginningOf(text, LONGEST)}…` : text;
}
