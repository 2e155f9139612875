import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { Command, Option } from "commander";
import { className } from "../../core/component/providers.ts";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import {
  DATA_FORMATS,
  type DataFormat,
  exportItems,
  importItems,
} from "../../evals/data/formats.ts";
import type { ExperimentResult } from "../../evals/experiment/result.ts";
import { type EvalFile, readEvalFile, textOf, wrong } from "../eval/eval-file.ts";
import { junitOf, type NamedResult } from "../eval/junit.ts";
import { asMarkdown, asText, reportOn } from "../eval/report.ts";
import { checkThresholds, thresholdIssues } from "../eval/thresholds.ts";
import { CliError, EXIT } from "../terminal/errors.ts";
import { printJson, printLine } from "../terminal/output.ts";

interface EvalOptions {
  baseline?: string;
  junit?: string;
  markdown?: string;
  output?: string;
  import?: DataFormat;
  export?: DataFormat;
  json?: true;
}

/** Evaluates variants of a team in this process, without a server. */
export function evalCommand(): Command {
  const format = (flags: string, text: string): Option =>
    new Option(flags, text).choices(DATA_FORMATS);
  return new Command("eval")
    .summary("compare variants of a team on a dataset")
    .description(
      `Runs each item of a dataset with each variant of a team, scores the results and compares the variants, in this process and
without a server. An eval file is JSON, YAML, or a TypeScript or JavaScript module whose default export is the same.

Exit code 3: a threshold of a file was missed.`,
    )
    .argument("<files...>", "eval files; with --import or --export, files with items")
    .option(
      "--baseline <variant>",
      "compare with this variant, or with the results in a file that --output has written",
    )
    .option("--output <file>", "write the results as JSON")
    .option("--junit <file>", "write the results as JUnit XML")
    .option("--markdown <file>", "write the report as Markdown")
    .addOption(
      format("--import <format>", "only print items of this format as JSON lines of Troupe"),
    )
    .addOption(
      format("--export <format>", "only print items, of Troupe or --import, in this format"),
    )
    .option("--json", "print the results as JSON, a line for each file")
    .addHelpText("after", "\nExample:\n  $ npx troupe eval evals/capitals.yaml --junit junit.xml")
    .action(async (files: string[], options: EvalOptions) => {
      if (options.import !== undefined || options.export !== undefined) {
        return convert(files, options.import ?? "jsonl", options.export ?? "jsonl");
      }
      const results: NamedResult[] = [];
      for (const file of files) results.push(await evaluated(file, options));
      await report(results, options);
    });
}

async function convert(files: readonly string[], from: DataFormat, to: DataFormat): Promise<void> {
  for (const file of files) {
    try {
      process.stdout.write(exportItems(to, importItems(from, await textOf(file))));
    } catch (error) {
      if (error instanceof CliError) throw error;
      const issues = error instanceof TroupeError ? error.issues : [];
      const reason = issues.length > 0 ? "." : `: ${errorMessage(error)}`;
      throw wrong(`${file} cannot be converted from ${from} to ${to}${reason}`, issues);
    }
  }
}

async function evaluated(
  file: string,
  { baseline: named, json }: EvalOptions,
): Promise<NamedResult> {
  const { evaluate } = await import("../../evals/experiment/evaluate.ts");
  const { name, options, thresholds } = await readEvalFile(file);
  const baseline = named === undefined ? options.baseline : await baselineOf(named, options);
  const variant = typeof baseline === "string" ? baseline : undefined;
  const mistakes = thresholdIssues(thresholds, {
    variants: options.variants.map((one) => one.name),
    scorers: options.scorers.map((one) =>
      "score" in one ? one.name : (one.name ?? className(one.provider)),
    ),
    baseline: variant,
    hasEarlier: typeof baseline === "object",
  });
  if (mistakes.length > 0) throw wrong(`${file} has thresholds that cannot be checked.`, mistakes);
  const progress = process.stderr.isTTY && json === undefined;
  try {
    const result = await evaluate({
      ...options,
      baseline,
      ...(progress && {
        onCell: (_cell, done, total) => process.stderr.write(`\r${done} of ${total} runs\u{1b}[K`),
      }),
    });
    if (progress) process.stderr.write("\r\u{1b}[K");
    return { name, result, verdicts: checkThresholds(result, thresholds, variant) };
  } catch (error) {
    if (error instanceof CliError) throw error;
    const issues = error instanceof TroupeError ? error.issues : [];
    throw wrong(
      issues.length > 0 ? `${file} cannot be run.` : `${file}: ${errorMessage(error)}`,
      issues,
    );
  }
}

async function baselineOf(
  given: string,
  { variants }: EvalFile["options"],
): Promise<string | ExperimentResult> {
  const names = variants.map(({ name }) => name);
  if (names.includes(given)) return given;
  if (!existsSync(given)) {
    throw wrong(
      `--baseline must be a variant (${names.join(", ")}) or a file that --output has written, not "${given}"`,
    );
  }
  try {
    const parsed = JSON.parse(await textOf(given)) as ExperimentResult | ExperimentResult[];
    const [first] = [parsed].flat();
    if (first !== undefined && Array.isArray(first.results)) return first;
  } catch (error) {
    throw wrong(`${given} is not JSON: ${errorMessage(error)}`);
  }
  throw wrong(`${given} has no results: write it with --output`);
}

async function report(results: readonly NamedResult[], options: EvalOptions): Promise<void> {
  const reports = results.map(({ name, result, verdicts }) => reportOn(name, result, verdicts));
  if (options.json) for (const { result } of results) printJson(result);
  else for (const one of reports) printLine(`${asText(one)}\n`);
  const all = results.map(({ result }) => result);
  const files: [path: string | undefined, text: () => string][] = [
    [options.output, () => `${JSON.stringify(all.length === 1 ? all[0] : all, null, 2)}\n`],
    [options.junit, () => junitOf(results)],
    [options.markdown, () => reports.map(asMarkdown).join("\n")],
  ];
  for (const [path, text] of files) {
    if (path === undefined) continue;
    try {
      await writeFile(path, text());
    } catch (error) {
      throw new CliError(`${path} cannot be written: ${errorMessage(error)}`);
    }
  }
  const missed = results.flatMap(({ verdicts }) =>
    verdicts.filter((one) => one.missed !== undefined),
  );
  if (missed.length > 0) process.exitCode = EXIT.failed;
}
