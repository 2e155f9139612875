import * as z from "zod";
import type { ComponentModel } from "../../core/component/component-model.ts";
import { type Issue, TroupeError } from "../../core/errors.ts";
import { issuesOf, listIssues, namesKnownFields } from "../../core/issues.ts";
import type { JsonObject } from "../../core/json.ts";
import type { ChatCompletionClient } from "../../core/models/chat-completion-client.ts";
import type { ModelPrice } from "../../contract/usage/model-prices.ts";
import type { SandboxAddress } from "../../components/sandbox/client/sandbox-connection.ts";
import {
  type GivenItem,
  type PreparedAnswer,
  preparedAnswersSchema,
  type SimulatedUser,
  simulatedUserSchema,
} from "../data/item.ts";
import type { ScoreFunction } from "../scorers/scorer.ts";
import type { CellResult } from "./result.ts";
import type { EarlierResults } from "./summarize.ts";
import { type Variant, variantSchema } from "./variants.ts";

/** A model client as component JSON or as an object, which all runs then share. */
export type GivenModel = ComponentModel | ChatCompletionClient;

/** A scorer as component JSON, whose name is by default that of its class, or a function with its name. */
export type GivenScorer =
  | { name?: string; provider: string; config?: JsonObject }
  | { name: string; score: ScoreFunction };

/** An evaluation: the data, the variants and the scorers. */
export interface EvaluateOptions {
  name?: string | undefined;
  data: readonly GivenItem<GivenModel>[];
  variants: readonly Variant[];
  scorers: readonly GivenScorer[];
  /** Runs of each item with each variant. Default 1. */
  repetitions?: number | undefined;
  /** Runs at the same time. Default 10, at most 50. */
  concurrency?: number | undefined;
  /** For questions that the answers of an item do not fit. */
  answers?: readonly PreparedAnswer[] | undefined;
  /** For items without a user of their own. */
  user?: SimulatedUser<GivenModel> | undefined;
  /** The variant, or the earlier results, with which the variants are compared. Default: each with each. */
  baseline?: string | EarlierResults | undefined;
  /** Prices of a million tokens, by model. Default: `MODEL_PRICES` of the process. */
  prices?: Readonly<Record<string, ModelPrice>> | undefined;
  /** Runs code in Python. Default: `SANDBOX_URL` and `SANDBOX_KEY` of the process. */
  sandbox?: SandboxAddress | undefined;
  /** The most seconds of a cell, and of its scorers. Default 600. */
  timeout?: number | undefined;
  /** Stops the evaluation: cells that are done keep their results. */
  signal?: AbortSignal | undefined;
  /** Called with each cell that is done. */
  onCell?: ((cell: CellResult, done: number, total: number) => void) | undefined;
}

const aFunction = z.custom<ScoreFunction>((value) => typeof value === "function", {
  error: "must be a function",
});

const scorerSchema = z.union([
  z.strictObject({
    name: z.string().min(1).optional(),
    provider: z.string().min(1),
    config: z.record(z.string(), z.unknown()).default({}) as unknown as z.ZodType<JsonObject>,
    component_type: z.string().nullish(),
    version: z.int().nullish(),
    component_version: z.int().nullish(),
    description: z.string().nullish(),
    label: z.string().nullish(),
  }),
  z.strictObject({ name: z.string().min(1), score: aFunction }),
]);
export type CheckedScorer = z.infer<typeof scorerSchema>;

const MOST_REPETITIONS = 100;
const MOST_AT_ONCE = 50;

const optionsSchema = z.strictObject({
  name: z.string().optional(),
  data: z.array(z.unknown(), { error: "must be a list of items" }),
  variants: z.array(variantSchema).min(1),
  scorers: z.array(scorerSchema).min(1),
  repetitions: z.int().min(1).max(MOST_REPETITIONS).default(1),
  concurrency: z.int().min(1).max(MOST_AT_ONCE).default(10),
  answers: preparedAnswersSchema.default([]),
  user: simulatedUserSchema.optional(),
  baseline: z
    .union([z.string(), z.looseObject({ results: z.array(z.unknown()) })])
    .optional() as unknown as z.ZodType<string | EarlierResults | undefined>,
  prices: z.record(z.string(), z.unknown()).optional(),
  sandbox: z.custom<SandboxAddress>().optional(),
  timeout: z.number().positive().default(600),
  signal: z
    .custom<AbortSignal>((value) => value instanceof AbortSignal, "must be an AbortSignal")
    .optional(),
  onCell: z.custom<NonNullable<EvaluateOptions["onCell"]>>().optional(),
});

export type CheckedOptions = z.infer<typeof optionsSchema>;

/** @throws TroupeError `invalid_evaluation` that names each option that is wrong and what is allowed */
export function checkEvaluation(options: unknown): CheckedOptions {
  const { data, error } = optionsSchema.safeParse(options, { error: namesKnownFields });
  if (error !== undefined) throw invalidEvaluation(issuesOf(error));
  const { baseline, variants } = data;
  const names = variants.map(({ name }) => name);
  if (typeof baseline === "string" && !names.includes(baseline)) {
    const message = `must be the name of a variant (${names.join(", ")}), not "${baseline}"`;
    throw invalidEvaluation([{ path: "baseline", message }]);
  }
  return data;
}

export function invalidEvaluation(issues: readonly Issue[]): TroupeError {
  return new TroupeError("invalid_evaluation", `Invalid evaluation: ${listIssues(issues)}`, {
    issues: [...issues],
  });
}
