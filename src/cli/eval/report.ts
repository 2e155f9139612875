import { beginningOf } from "../../core/cut.ts";
import { byItem } from "../../evals/experiment/summarize.ts";
import type { CellResult, ExperimentResult } from "../../evals/experiment/result.ts";
import { meanOf } from "../../evals/statistics/mean.ts";
import type { CheckedThreshold } from "./thresholds.ts";

/** A table of a report. */
export interface Table {
  head: readonly string[];
  rows: readonly (readonly string[])[];
}

/** The parts of a result that terminals and Markdown show. */
export interface Report {
  title: string;
  /** The scores of each variant. */
  scores: Table;
  /** Tokens, cost and time of each variant. */
  usage: Table;
  comparisons: Table;
  /** Says how far the numbers can be trusted. */
  notes: string[];
  verdicts: readonly CheckedThreshold[];
  /** The runs that failed or scored least. */
  worst: readonly CellResult[];
}

const MOST_WORST = 5;

export function reportOn(
  name: string,
  result: ExperimentResult,
  verdicts: readonly CheckedThreshold[],
): Report {
  const { cells, summary, comparisons, results } = result;
  const items = new Set(results.map(({ item }) => item)).size;
  const few = comparisons.some(({ enough }) => !enough);
  return {
    title: `${name}: ${items} items, ${cells.done} runs, ${cells.failed} failed`,
    scores: {
      head: ["variant", "scorer", "items", "mean [95 %]", "pass rate [95 %]"],
      rows: Object.entries(summary).flatMap(([variant, { scores }]) => {
        const own = results.filter((cell) => cell.variant === variant);
        return Object.entries(scores).map(([scorer, { mean, low, high, n }]) => {
          const passes = meanOf([...byItem(own, scorer, "pass").values()]);
          return [
            variant,
            scorer,
            String(n),
            withInterval(mean, low, high),
            withInterval(passes.mean, passes.low, passes.high),
          ];
        });
      }),
    },
    usage: {
      head: ["variant", "tokens", "cost", "seconds p50", "p95"],
      rows: Object.entries(summary).map(([variant, { usage, cost, seconds }]) => [
        variant,
        String(usage.prompt_tokens + usage.completion_tokens),
        cost === null ? "unknown" : String(Number(cost.toFixed(6))),
        String(seconds.p50 ?? "none"),
        String(seconds.p95 ?? "none"),
      ]),
    },
    comparisons: {
      head: ["difference", "scorer", "mean [95 %]", "p"],
      rows: comparisons.map(({ variants: [before, after], scorer, difference, low, high, p }) => [
        `${after} - ${before}`,
        scorer,
        withInterval(difference, low, high),
        p === null ? "none" : p < 0.001 ? "< 0.001" : p.toFixed(3),
      ]),
    },
    notes: few ? ["Below 20 items a comparison says little: add items."] : [],
    verdicts,
    worst: results
      .map((cell) => ({ cell, score: leastScore(cell) }))
      .filter(({ score }) => score < 1)
      .toSorted((a, b) => a.score - b.score)
      .slice(0, MOST_WORST)
      .map(({ cell }) => cell),
  };
}

/** One line on a run: why it failed, or what its scorers say. */
export function reasonOf({ error, scores }: CellResult): string {
  if (error !== undefined) return error.message;
  return Object.entries(scores)
    .filter(([, { pass }]) => pass !== true)
    .map(([scorer, { score, reason }]) => `${scorer} ${score ?? "gave no score"}: ${reason}`)
    .join("; ");
}

function leastScore({ scores }: CellResult): number {
  return Math.min(...Object.values(scores).map(({ score }) => score ?? 1));
}

/** A value with its interval, in as many digits as the ends need to differ. */
function withInterval(value: number | null, low: number | null, high: number | null): string {
  if (value === null || low === null || high === null) return "none";
  let digits = 2;
  while (low.toFixed(digits) === high.toFixed(digits) && digits < 10) digits++;
  return `${value.toFixed(digits)} [${low.toFixed(digits)}, ${high.toFixed(digits)}]`;
}

/** The report for a terminal. */
export function asText(report: Report): string {
  const { title, scores, usage, comparisons, notes, verdicts, worst } = report;
  const tables = [scores, comparisons, usage].filter(({ rows }) => rows.length > 0);
  const parts = [title, ...tables.map(aligned)];
  if (worst.length > 0) {
    const lines = worst.map((cell) => `  ${placeOf(cell)}  ${reasonOf(cell)}`);
    parts.push(["worst runs:", ...lines].join("\n"));
  }
  parts.push(...notes);
  if (verdicts.length > 0) parts.push(verdicts.map(verdictLine).join("\n"));
  return parts.join("\n\n");
}

export function placeOf({ item, variant, repetition }: CellResult): string {
  return `${item} / ${variant}${repetition > 1 ? ` / ${repetition}` : ""}`;
}

function verdictLine({ name, missed }: CheckedThreshold): string {
  return missed === undefined ? `ok      ${name}` : `MISSED  ${name}: ${missed}`;
}

function aligned({ head, rows }: Table): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** The report for a pull request. */
export function asMarkdown(report: Report): string {
  const { title, scores, usage, comparisons, notes, verdicts, worst } = report;
  const parts = [`### ${markdownText(title)}`];
  for (const table of [scores, comparisons, usage])
    if (table.rows.length > 0) parts.push(markdown(table));
  parts.push(...notes);
  if (verdicts.length > 0) {
    const lines = verdicts.map(({ name, missed }) =>
      missed === undefined
        ? `- met: ${markdownText(name)}`
        : `- **missed**: ${markdownText(name)}: ${missed}`,
    );
    parts.push(lines.join("\n"));
  }
  if (worst.length > 0) {
    const rows = worst.map((one) => [placeOf(one), reasonOf(one), one.output ?? ""]);
    parts.push(markdown({ head: ["worst runs", "reason", "output"], rows }));
  }
  return `${parts.join("\n\n")}\n`;
}

function markdown({ head, rows }: Table): string {
  const lines = [head, head.map(() => "---"), ...rows].map(
    (row) => `| ${row.map(markdownText).join(" | ")} |`,
  );
  return lines.join("\n");
}

const LONGEST_CELL = 300;

/** The text without line breaks, and with its markup escaped, so that it fits into a table. */
function markdownText(text: string): string {
  return beginningOf(text, LONGEST_CELL)
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_{}[\]<>#|~]/g, "\\$&");
}
