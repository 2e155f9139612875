import { describe, expect, test } from "vitest";
import type { CellResult, ExperimentResult } from "troupe/testing";
import { junitOf } from "#cli/eval/junit.ts";
import { asMarkdown, asText, reportOn } from "#cli/eval/report.ts";
import { checkThresholds, thresholdIssues } from "#cli/eval/thresholds.ts";
import { compare, summarize } from "#evals/experiment/summarize.ts";

const cell = (item: string, variant: string, given: Partial<CellResult> = {}): CellResult => ({
  item,
  variant,
  repetition: 1,
  team_id: null,
  run_id: null,
  status: "completed",
  output: "Oslo",
  scores: { right: { score: 1, pass: true, reason: "" } },
  usage: { prompt_tokens: 10, completion_tokens: 5 },
  cost: 0.001,
  seconds: 1,
  ...given,
});

const wrong = { right: { score: 0, pass: false, reason: "is not <b>Oslo</b> | or *so*" } };
const unjudged = { right: { score: null, pass: null, reason: "the judge\nis away" } };

const results = [
  cell("1", "old"),
  cell("2", "old"),
  cell("1", "new", { scores: wrong, output: "Rome" }),
  cell("2", "new", {
    status: "failed",
    output: null,
    scores: wrong,
    error: { code: "run_failed", message: "no <model>" },
  }),
  cell("3", "new", { scores: unjudged }),
];
const result: ExperimentResult = {
  id: "1",
  status: "completed",
  dataset: null,
  cells: { total: 5, done: 5, failed: 1 },
  summary: summarize(results, ["old", "new"], ["right"]),
  comparisons: compare(results, ["old", "new"], ["right"], "old"),
  results,
};

describe("thresholds", () => {
  test("thresholds without a variant are for all but the baseline", () => {
    const verdicts = checkThresholds(result, [{ scorer: "right", mean: 0.5 }], "old");
    expect(verdicts).toEqual([
      { name: "new: mean of right is at least 0.5", missed: "it is 0.000" },
    ]);
  });

  test("are met by values that are just enough", () => {
    const verdicts = checkThresholds(result, [
      { scorer: "right", variant: "old", mean: 1, pass_rate: 1, low: 0.3 },
    ]);
    expect(verdicts.map(({ missed }) => missed)).toEqual([undefined, undefined, undefined]);
  });

  test("a drop counts beyond doubt only", () => {
    const items = Array.from({ length: 12 }, (_, index) => String(index));
    const cells = items.flatMap((item) => [
      cell(item, "old"),
      cell(item, "new", { scores: wrong }),
    ]);
    const sure = { ...result, comparisons: compare(cells, ["old", "new"], ["right"], "old") };
    expect(checkThresholds(result, [{ scorer: "right", drop: 0 }], "old")).toMatchObject([
      { missed: undefined },
    ]);
    expect(checkThresholds(sure, [{ scorer: "right", drop: 0 }], "old")[0]?.missed).toContain(
      "-1.000",
    );
    expect(checkThresholds(sure, [{ scorer: "right", drop: 0.9 }], "old")).toMatchObject([
      { missed: undefined },
    ]);
  });

  test("all variants are checked without a baseline", () => {
    expect(checkThresholds(result, [{ scorer: "right", mean: 0.5 }])).toHaveLength(2);
  });

  test("an earlier result without the variant is a missed drop", () => {
    const verdicts = checkThresholds(result, [{ scorer: "right", variant: "old", drop: 0 }]);
    expect(verdicts).toMatchObject([{ missed: "the baseline has no such variant" }]);
  });

  test("names and drops are checked before anything runs", () => {
    const names = { variants: ["a"], scorers: ["right"], hasEarlier: false };
    const thresholds = [{ scorer: "wrong", variant: "b", drop: 0 }];
    expect(thresholdIssues(thresholds, names).map(({ path }) => path)).toEqual([
      "thresholds[0].scorer",
      "thresholds[0].variant",
      "thresholds[0].drop",
    ]);
    expect(thresholdIssues([{ scorer: "right", drop: 0 }], { ...names, hasEarlier: true })).toEqual(
      [],
    );
  });
});

describe("reports", () => {
  const verdicts = checkThresholds(result, [{ scorer: "right", mean: 0.5 }], "old");
  const report = reportOn("capitals", result, verdicts);

  test("a table shows intervals and what is worst", () => {
    const text = asText(report);
    expect(text).toContain("capitals: 3 items, 5 runs, 1 failed");
    expect(text).toMatch(/old {6}right {3}2 {6}1\.00 \[0\.34, 1\.00\]/);
    expect(text).toMatch(/new - old {3}right {3}-1\.00 \[-1\.00, /);
    expect(text).toContain("  2 / new  no <model>");
    expect(text).toContain("Below 20 items");
    expect(text).toContain("MISSED  new: mean of right is at least 0.5: it is 0.000");
  });

  test("an interval is shown in as many digits as it needs", () => {
    const scores = (score: number): CellResult["scores"] => ({
      right: { score, pass: true, reason: "" },
    });
    const close = Array.from({ length: 30 }, (_, index) =>
      cell(String(index), "old", { scores: scores(0.5 + index / 1e6) }),
    );
    const summary = summarize(close, ["old"], ["right"]);
    const { rows } = reportOn("close", { ...result, summary, results: close }, []).scores;
    const [, low, high] = /\[(.*), (.*)\]/.exec(rows[0]?.[3] ?? "") ?? [];
    expect(low).not.toBe(high);
  });

  test("Markdown keeps texts of runs from being markup", () => {
    const markdown = asMarkdown(report);
    expect(markdown).toContain("is not \\<b\\>Oslo\\</b\\> \\| or \\*so\\*");
    expect(markdown).toContain("**missed**");
    for (const line of markdown.split("\n").filter((one) => one.startsWith("| 1 / new"))) {
      expect(line.match(/(?<!\\)\|/g)).toHaveLength(4);
    }
  });

  test("JUnit XML has failures, errors and skipped cases, and counts them", () => {
    const xml = junitOf([{ name: "capitals", result, verdicts }]);
    expect(xml).toContain(
      '<testsuite name="capitals / new" tests="3" failures="1" errors="1" skipped="1">',
    );
    expect(xml).toContain('<error message="no &lt;model&gt;"/>');
    expect(xml).toContain('<skipped message="the judge&#10;is away"/>');
    expect(xml).toContain('<testsuite name="capitals / thresholds" tests="1" failures="1"');
  });

  test("JUnit XML leaves out characters that XML cannot have", () => {
    const odd = cell("1", "old", { output: "a\u0000b\u001b[31m\ud800c" });
    const xml = junitOf([{ name: "odd", result: { ...result, results: [odd] }, verdicts: [] }]);
    expect(xml).toContain("<system-out>ab[31m\ufffdc</system-out>");
  });
});
