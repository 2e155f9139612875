import type { ComponentModel } from "../../core/component/component-model.ts";
import type { Issue } from "../../core/errors.ts";
import { className } from "../../core/component/providers.ts";
import type { ChatCompletionClient } from "../../core/models/chat-completion-client.ts";
import { ModelPrices } from "../../contract/usage/model-prices.ts";
import { readEnv } from "../../outgoing/dependencies.ts";
import { checkItems, type DatasetItem, type SimulatedUser } from "../data/item.ts";
import { scoreOf, type Scorer } from "../scorers/scorer.ts";
import { type Cell, type ReadyScorer, type ReadyUser, runCell } from "./cell.ts";
import type { EvaluationComponents } from "./components.ts";
import {
  type CheckedScorer,
  checkEvaluation,
  type EvaluateOptions,
  invalidEvaluation,
} from "./options.ts";
import type { CellResult, ExperimentResult } from "./result.ts";
import { compare, summarize } from "./summarize.ts";
import { readyVariants } from "./variants.ts";

const MODELS = ["model"] as const;

/**
 * Runs each item of a dataset with each variant of a team and scores the results: in this process, without a server. A run that fails
 * is a result with the score 0. A run that asks a question is answered by `answers`, then by `user`; otherwise it fails.
 *
 * @throws TroupeError `invalid_evaluation` or `invalid_dataset`, before anything runs, that names each mistake
 *
 * @example
 * const { summary, comparisons } = await evaluate({
 *   data: [{ task: "What is the capital of Norway?", expected: "Oslo" }],
 *   variants: [{ name: "old", component: oldTeam }, { name: "new", component: newTeam }],
 *   scorers: [{ provider: "troupe.scorers.Includes" }],
 * });
 */
export async function evaluate(options: EvaluateOptions): Promise<ExperimentResult> {
  const checked = checkEvaluation(options);
  const items = checkItems(checked.data);
  // All classes and templates of Troupe, which a test with a scripted model alone does not need.
  const { EvaluationComponents: Components } = await import("./components.ts");
  const components = new Components(checked.sandbox);
  const issues: Issue[] = [];
  const variants = await readyVariants(checked.variants, components);
  const scorers = await readyScorers(checked.scorers, components);
  issues.push(...variants.issues, ...scorers.issues);
  const userOf = async (
    user: SimulatedUser<object> | undefined,
    place: string,
  ): Promise<ReadyUser | undefined> => {
    if (user === undefined) return undefined;
    const ready = await readyUser(user, components, place);
    issues.push(...ready.issues);
    return ready.user;
  };
  const common = await userOf(checked.user, "user");
  const users = new Map<DatasetItem<object>, ReadyUser | undefined>();
  for (const [index, item] of items.entries()) {
    users.set(item, (await userOf(item.user, `data[${index}].user`)) ?? common);
  }
  if (issues.length > 0) throw invalidEvaluation(issues);

  const { repetitions, signal = new AbortController().signal, timeout, onCell } = checked;
  const prices = pricesOf(checked.prices);
  const cells = items.flatMap((item) =>
    variants.ready.flatMap((variant) =>
      Array.from({ length: repetitions }, (_, index): Cell => ({
        item,
        variant,
        repetition: index + 1,
        scorers: scorers.ready,
        answers: [...(item.answers ?? []), ...checked.answers],
        user: users.get(item),
        prices,
        timeout,
        signal,
      })),
    ),
  );
  const results = await runAll(cells, checked.concurrency, signal, (cell, done) =>
    onCell?.(cell, done, cells.length),
  );
  const names = variants.ready.map(({ name }) => name);
  const scorerNames = scorers.ready.map(({ name }) => name);
  return {
    id: crypto.randomUUID(),
    ...(checked.name !== undefined && { name: checked.name }),
    status: signal.aborted ? "stopped" : "completed",
    dataset: null,
    cells: {
      total: cells.length,
      done: results.length,
      failed: results.filter(({ status }) => status === "failed").length,
    },
    summary: summarize(results, names, scorerNames),
    comparisons: compare(results, names, scorerNames, checked.baseline),
    results,
  };
}

/** Runs cells side by side. Those under way when the signal stops the evaluation are not results. */
async function runAll(
  cells: readonly Cell[],
  concurrency: number,
  signal: AbortSignal,
  onCell: (cell: CellResult, done: number) => void,
): Promise<CellResult[]> {
  const results: (CellResult | undefined)[] = cells.map(() => undefined);
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    while (next < cells.length && !signal.aborted) {
      const index = next++;
      const result = await runCell(cells[index] as Cell);
      if (signal.aborted) return;
      results[index] = result;
      onCell(result, ++done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, cells.length) }, work));
  return results.filter((result) => result !== undefined);
}

async function readyScorers(
  scorers: readonly CheckedScorer[],
  components: EvaluationComponents,
): Promise<{ ready: ReadyScorer[]; issues: Issue[] }> {
  const ready: ReadyScorer[] = [];
  const issues: Issue[] = [];
  for (const [index, scorer] of scorers.entries()) {
    const place = `scorers[${index}]`;
    const name = "score" in scorer ? scorer.name : (scorer.name ?? className(scorer.provider));
    if (ready.some((other) => other.name === name)) {
      const message = `"${name}" is the name of an earlier scorer: give this one another`;
      issues.push({ path: `${place}.name`, message });
      continue;
    }
    if ("score" in scorer) {
      const score: Scorer["score"] = async (run) =>
        scoreOf(await scorer.score(run), `the scorer "${name}"`);
      ready.push({ name, create: () => Promise.resolve({ score }) });
      continue;
    }
    const { name: _name, ...model } = scorer;
    const prepared = await components.prepare(model, ["scorer"], place);
    issues.push(...prepared.issues);
    ready.push({ name, create: () => components.load<Scorer>(prepared.model, ["scorer"]) });
  }
  return { ready, issues };
}

async function readyUser(
  { model_client: given, ...user }: SimulatedUser<object>,
  components: EvaluationComponents,
  place: string,
): Promise<{ user: ReadyUser; issues: Issue[] }> {
  if (!("provider" in given)) {
    const client = given as ChatCompletionClient;
    return { user: { ...user, createModel: () => Promise.resolve(client) }, issues: [] };
  }
  const { model, issues } = await components.prepare(
    given as ComponentModel,
    MODELS,
    `${place}.model_client`,
  );
  const createModel = (): Promise<ChatCompletionClient> => components.load(model, MODELS);
  return { user: { ...user, createModel }, issues };
}

function pricesOf(prices: Readonly<Record<string, unknown>> | undefined): ModelPrices {
  return ModelPrices.parse(
    prices === undefined ? readEnv({}, "MODEL_PRICES") : JSON.stringify(prices),
  );
}
