/**
 * Tests of teams without a key, and evaluations: is a changed team better?
 *
 * @module troupe/testing
 */

export {
  ScriptedChatCompletionClient,
  type ScriptedReply,
  type ScriptedRequest,
} from "./scripted-chat-completion-client.ts";

// Evaluations
export { evaluate } from "../evals/experiment/evaluate.ts";
export type { Subject } from "../evals/experiment/components.ts";
export type { EvaluateOptions, GivenModel, GivenScorer } from "../evals/experiment/options.ts";
export type { ModelPrice } from "../contract/usage/model-prices.ts";
export type { EarlierResults } from "../evals/experiment/summarize.ts";
export type { PatchOperation, Variant } from "../evals/experiment/variants.ts";
export type {
  CellResult,
  Comparison,
  ExperimentResult,
  ScoreSummary,
  VariantSummary,
  WaitsFor,
} from "../evals/experiment/result.ts";
export { DATA_FORMATS, type DataFormat, exportItems, importItems } from "../evals/data/formats.ts";
export type {
  DatasetItem,
  GivenItem,
  PreparedAnswer,
  SimulatedUser,
  WaitKind,
} from "../evals/data/item.ts";
export type { Score, ScoredRun, ScoreFunction, ScoreValue } from "../evals/scorers/scorer.ts";
