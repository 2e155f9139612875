import type { CellResult, ExperimentResult } from "../../evals/experiment/result.ts";
import { placeOf } from "./report.ts";
import type { CheckedThreshold } from "./thresholds.ts";

/** A result with the name of its file. */
export interface NamedResult {
  name: string;
  result: ExperimentResult;
  verdicts: readonly CheckedThreshold[];
}

/**
 * Results as JUnit XML: a suite per variant with a case per run and scorer, and one of the thresholds. A run that failed is an
 * error, a scorer that failed is skipped.
 */
export function junitOf(results: readonly NamedResult[]): string {
  const suites = results.flatMap(({ name, result, verdicts }) => {
    const variants = Object.keys(result.summary).map((variant) => {
      const cells = result.results.filter((cell) => cell.variant === variant);
      return suite(
        `${name} / ${variant}`,
        cells.flatMap((cell) => casesOf(name, cell)),
      );
    });
    if (verdicts.length === 0) return variants;
    const cases = verdicts.map((verdict) =>
      testCase(`${name}.thresholds`, verdict.name, 0, verdict.missed && failure(verdict.missed)),
    );
    return [...variants, suite(`${name} / thresholds`, cases)];
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${suites.join("")}</testsuites>\n`;
}

interface Case {
  text: string;
  kind: "passed" | "failure" | "error" | "skipped";
}

function casesOf(name: string, cell: CellResult): Case[] {
  return Object.entries(cell.scores).map(([scorer, { score, pass, reason }]) => {
    const title = `${placeOf(cell)}: ${scorer}`;
    const owner = `${name}.${cell.variant}`;
    if (cell.error !== undefined) {
      const content = `<error message="${xml(cell.error.message)}"/>`;
      return testCase(owner, title, cell.seconds, content);
    }
    if (score === null) {
      return testCase(owner, title, cell.seconds, `<skipped message="${xml(reason)}"/>`);
    }
    const output = `<system-out>${xml(cell.output ?? "")}</system-out>`;
    const content = pass === true ? output : failure(`${score}: ${reason}`) + output;
    return testCase(owner, title, cell.seconds, content);
  });
}

function testCase(owner: string, name: string, seconds: number, content = ""): Case {
  const kinds = ["failure", "error", "skipped"] as const;
  return {
    text: `    <testcase classname="${xml(owner)}" name="${xml(name)}" time="${seconds}">${content}</testcase>\n`,
    kind: kinds.find((kind) => content.startsWith(`<${kind} `)) ?? "passed",
  };
}

function failure(message: string): string {
  return `<failure message="${xml(message)}"/>`;
}

function suite(name: string, cases: readonly Case[]): string {
  const count = (kind: Case["kind"]): number => cases.filter((one) => one.kind === kind).length;
  const counts = `tests="${cases.length}" failures="${count("failure")}" errors="${count("error")}" skipped="${count("skipped")}"`;
  return `  <testsuite name="${xml(name)}" ${counts}>\n${cases.map(({ text }) => text).join("")}  </testsuite>\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
};

/** A text without the characters that XML cannot have. */
function xml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, "")
    .replaceAll(/[&<>"\n]/g, (character) => ENTITIES[character] ?? character);
}
