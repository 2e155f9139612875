import type { JsonObject } from "../../core/json.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";
import type { WaitKind } from "../data/item.ts";
import type { Score } from "../scorers/scorer.ts";

/** The question at which a run waited and that had no answer. */
export interface WaitsFor {
  kind: WaitKind;
  /** The agent that asked. */
  source: string;
  prompt: string;
  tool?: string;
  arguments?: JsonObject;
}

/** The run of one item with one variant. */
export interface CellResult {
  item: string;
  variant: string;
  /** 1 for the first. */
  repetition: number;
  /** Null for a run in the process. */
  team_id: string | null;
  run_id: string | null;
  status: "completed" | "failed";
  /** The text of the last message; null where the run failed. */
  output: string | null;
  /** By the names of the scorers. */
  scores: { [scorer: string]: Score };
  usage: TokenUsage;
  /** In the currency of the prices; null where a model has no price. */
  cost: number | null;
  seconds: number;
  error?: { code: string; message: string };
  waits_for?: WaitsFor;
}

/** The scores of one variant by one scorer. All but `n` are null where the scorer gave no verdict. */
export interface ScoreSummary {
  mean: number | null;
  pass_rate: number | null;
  /** The 95 % interval of the mean. */
  low: number | null;
  high: number | null;
  /** The number of items. */
  n: number;
}

export interface VariantSummary {
  scores: { [scorer: string]: ScoreSummary };
  usage: TokenUsage;
  cost: number | null;
  /** Null without a run. */
  seconds: { p50: number | null; p95: number | null };
}

/** The second variant less the first, over the items that both have scores of. */
export interface Comparison {
  variants: [before: string, after: string];
  scorer: string;
  difference: number | null;
  low: number | null;
  high: number | null;
  /** The probability of such a difference if the variants do not differ. */
  p: number | null;
  /** False below 20 items. */
  enough: boolean;
}

/** An experiment and its results, as JSON. */
export interface ExperimentResult {
  id: string;
  name?: string;
  /** `stopped` where the signal ended it. */
  status: "completed" | "stopped";
  /** Null for items that are in no stored dataset. */
  dataset: string | null;
  cells: { total: number; done: number; failed: number };
  summary: { [variant: string]: VariantSummary };
  comparisons: Comparison[];
  results: CellResult[];
}
