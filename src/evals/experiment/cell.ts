import { run, runStream, type Task } from "../../core/agents/run.ts";
import { errorMessage, TroupeError } from "../../core/errors.ts";
import type { Message } from "../../core/messages/message.ts";
import type { ChatCompletionClient } from "../../core/models/chat-completion-client.ts";
import { addUsage } from "../../core/models/request-usage.ts";
import type { RunWatcher } from "../../core/run/in-memory-host.ts";
import { RunResult } from "../../core/run/task-result.ts";
import type { Answer, Question } from "../../core/turn/turn-context.ts";
import type { ModelPrices } from "../../contract/usage/model-prices.ts";
import { addTokens, type TokensByModel, tokensOfCall } from "../../contract/usage/model-usage.ts";
import type { DatasetItem, PreparedAnswer, SimulatedUser } from "../data/item.ts";
import type { Score, ScoredRun, Scorer } from "../scorers/scorer.ts";
import type { Subject } from "./components.ts";
import type { CellResult } from "./result.ts";
import { UserModel } from "./simulated-user.ts";
import type { ReadyVariant } from "./variants.ts";
import { PreparedAnswers, UnansweredError } from "./waits.ts";

/** A scorer of an experiment. It is made for each cell, so that a judge keeps nothing of another one. */
export interface ReadyScorer {
  name: string;
  create: () => Promise<Pick<Scorer, "score">>;
}

/** A simulated user whose model is made for each cell. */
export type ReadyUser = Omit<SimulatedUser, "model_client"> & {
  createModel: () => Promise<ChatCompletionClient>;
};

/** One run of an experiment. */
export interface Cell {
  item: DatasetItem<object>;
  variant: ReadyVariant;
  repetition: number;
  scorers: readonly ReadyScorer[];
  answers: readonly PreparedAnswer[];
  user: ReadyUser | undefined;
  prices: ModelPrices;
  /** Seconds that the runs of the cell, and then its scorers, may take. */
  timeout: number;
  signal: AbortSignal;
}

/** Runs a cell to its end and scores it. It never waits for a person, and does not throw. */
export async function runCell(cell: Cell): Promise<CellResult> {
  const started = performance.now();
  const talk = new Talk(cell);
  let failure: unknown;
  try {
    await talk.run();
  } catch (error) {
    failure = error;
  }
  const seconds = Math.round(performance.now() - started) / 1000;
  const { usage, cost } = talk;
  const ended: ScoredRun = {
    item: cell.item,
    output: talk.output,
    messages: talk.messages,
    turns: talk.turns,
    usage,
    cost,
    seconds,
  };
  const failed = failure === undefined ? undefined : failureOf(failure);
  const { item, variant, repetition } = cell;
  return {
    item: item.id,
    variant: variant.name,
    repetition,
    team_id: null,
    run_id: null,
    status: failed === undefined ? "completed" : "failed",
    output: failed === undefined ? ended.output : null,
    scores: await scoresOf(cell, ended, failed),
    usage,
    cost,
    seconds,
    ...failed,
  };
}

type Failure = Required<Pick<CellResult, "error">> & Pick<CellResult, "waits_for">;

function failureOf(error: unknown): Failure {
  const code = error instanceof TroupeError ? error.code : "run_failed";
  const known = { error: { code, message: errorMessage(error) } };
  return error instanceof UnansweredError ? { ...known, waits_for: error.waitsFor } : known;
}

/** The conversation of a cell: one run or, with a simulated user, several. */
class Talk implements RunWatcher {
  readonly messages: Message[] = [];
  turns = 0;
  output = "";
  readonly #cell: Cell;
  readonly #over = new AbortController();
  readonly #answers: PreparedAnswers;
  readonly #deadline: number;
  #tokens: TokensByModel = {};

  constructor(cell: Cell) {
    this.#cell = cell;
    this.#answers = new PreparedAnswers(cell.answers);
    this.#deadline = performance.now() + cell.timeout * 1000;
  }

  get usage(): CellResult["usage"] {
    return Object.values(this.#tokens).reduce(addUsage, { prompt_tokens: 0, completion_tokens: 0 });
  }

  get cost(): number | null {
    const costs = Object.entries(this.#tokens).map(([model, tokens]) =>
      this.#cell.prices.cost(model, tokens),
    );
    return costs.reduce<number | null>(
      (sum, cost) => (sum === null || cost === null ? null : sum + cost),
      0,
    );
  }

  /** @throws what a run throws; UnansweredError; TroupeError `timeout` */
  async run(): Promise<void> {
    const { item, variant, user, timeout, signal } = this.#cell;
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)]);
    const stop = (): void => {
      if (signal.aborted) this.#over.abort(signal.reason);
      else this.#endLate();
    };
    limit.addEventListener("abort", stop);
    if (limit.aborted) stop();
    let subject: Subject | undefined;
    try {
      const talking = (async () => {
        subject = await variant.create(item);
        const model = user && (await user.createModel());
        const userModel = user && model && new UserModel(user, model, this.#over.signal);
        await this.#talk(subject, userModel);
      })();
      // A tool that ignores the signal must not hold the cell.
      await Promise.race([talking, rejectedBy(this.#over.signal)]);
    } finally {
      limit.removeEventListener("abort", stop);
      await subject?.close();
    }
  }

  async #talk(subject: Subject, user: UserModel | undefined): Promise<void> {
    let task = (this.#cell.item.task ?? null) as Task | undefined;
    while (task !== undefined) {
      const options = {
        task,
        signal: this.#over.signal,
        watcher: this as RunWatcher,
        answer: (question: Question) => this.#answer(question, user),
      };
      for await (const message of runStream(subject, options)) {
        // Timers do not fire where a model answers at once each time, as those of tests do.
        if (performance.now() > this.#deadline) this.#endLate();
        if (message instanceof RunResult) this.output = message.text;
        else if (message.type !== "ModelClientStreamingChunkEvent") this.messages.push(message);
      }
      task = await user?.next(this.messages);
    }
  }

  #endLate(): void {
    const message = `the run took longer than ${this.#cell.timeout} seconds`;
    this.#over.abort(new TroupeError("timeout", message));
  }

  async #answer(question: Question, user: UserModel | undefined): Promise<Answer> {
    const answer = this.#answers.take(question) ?? (await user?.answer(question, this.messages));
    if (answer !== undefined) return answer;
    const reason =
      user === undefined ? "the item has none left" : (user.silent ?? "a person gives none");
    const error = new UnansweredError(question, reason);
    // Ends the whole run: what a tool or an agent makes of an error does not matter.
    this.#over.abort(error);
    throw error;
  }

  turn(number: number): void {
    if (number > 0) this.turns++;
  }

  step(kind: string, result: unknown): void {
    if (kind === "model") this.#tokens = addTokens(this.#tokens, tokensOfCall(result));
  }

  spent(usage: TokensByModel): void {
    this.#tokens = addTokens(this.#tokens, usage);
  }
}

async function scoresOf(
  { scorers, timeout, signal }: Cell,
  ended: ScoredRun,
  failed: Failure | undefined,
): Promise<CellResult["scores"]> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(timeout * 1000)]);
  const host = {
    signal: limit,
    run: async (subject: Subject, task: string) =>
      (await run(subject, { task, signal: limit })).text,
  };
  const scores = await Promise.all(
    scorers.map(async ({ name, create }): Promise<[string, Score]> => {
      if (failed !== undefined) {
        return [name, { score: 0, pass: false, reason: `the run failed: ${failed.error.message}` }];
      }
      try {
        const scoring = (async () => (await create()).score(ended, host))();
        return [name, await Promise.race([scoring, rejectedBy(limit)])];
      } catch (error) {
        return [name, { score: null, pass: null, reason: errorMessage(error) }];
      }
    }),
  );
  return Object.fromEntries(scores);
}

/** Rejects when the signal aborts, with its reason. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = (): void => reject(signal.reason as Error);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}
