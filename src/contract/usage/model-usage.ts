import { isJsonObject } from "../../core/json.ts";
import {
  addUsage,
  isRequestUsage,
  type RequestUsage,
  subtractUsage,
  type TokenUsage,
  usageDetails,
} from "../../core/models/request-usage.ts";
import type { UsageByModel } from "./usage-schemas.ts";

/** Model calls whose result does not name the model count under this name. */
export const UNNAMED_MODEL = "unknown";

/** Tokens by the model's name. */
export type TokensByModel = { readonly [model: string]: TokenUsage };

/** The model calls of a run. `usage` includes calls of versions that did not count by model. */
export interface RunUsage {
  usage: TokenUsage;
  models: UsageByModel;
}

/** The price of tokens of a model; null if it has no price. */
export type CostOf = (model: string, tokens: TokenUsage) => number | null;

const NO_TOKENS: TokenUsage = { prompt_tokens: 0, completion_tokens: 0 };

export const NO_USAGE: RunUsage = { usage: NO_TOKENS, models: {} };

/**
 * The tokens of a recorded model step, a `CreateResult`. Empty for a result without `usage`, and for one from a
 * `ChatCompletionCache`, because no model was called.
 */
export function tokensOfCall(result: unknown): TokensByModel {
  if (!isJsonObject(result) || !isRequestUsage(result.usage) || result.from_store) return {};
  const { usage, usage_details: details } = result;
  const { model = UNNAMED_MODEL } = result;
  if (typeof model !== "string" || model === "") return {};
  const { prompt_tokens, completion_tokens } = usage;
  const counted = { prompt_tokens, completion_tokens };
  if (!isJsonObject(details)) return { [model]: counted };
  const known = { ...counted, ...usageDetails(details) };
  const { estimate } = details;
  return { [model]: isRequestUsage(estimate) ? addUsage(known, estimated(estimate)) : known };
}

export function addTokens(a: TokensByModel, b: TokensByModel): TokensByModel {
  return combine(a, b, addUsage);
}

/** The usage without models whose counts are all zero. */
export function subtractTokens(a: TokensByModel, b: TokensByModel): TokensByModel {
  const difference = combine(a, b, subtractUsage);
  return Object.fromEntries(
    Object.entries(difference).filter(
      ([, { prompt_tokens, completion_tokens }]) => prompt_tokens !== 0 || completion_tokens !== 0,
    ),
  );
}

/** An estimate of tokens from the lengths of the texts alone. */
export function estimated({ prompt_tokens, completion_tokens }: RequestUsage): TokenUsage {
  const estimated_tokens = prompt_tokens + completion_tokens;
  return { prompt_tokens, completion_tokens, estimated_tokens };
}

/** Adds the cost of tokens at the current prices. */
export function addToUsage(
  { usage, models }: RunUsage,
  tokens: TokensByModel,
  costOf: CostOf,
): RunUsage {
  const priced = Object.fromEntries(
    Object.entries(tokens).map(([model, used]) => [model, { ...used, cost: costOf(model, used) }]),
  );
  return {
    usage: Object.values(tokens).reduce(addUsage, usage),
    models: combine(models, priced, (left, right) => ({
      ...addUsage(left, right),
      cost: addCosts(left.cost, right.cost),
    })),
  };
}

/** The sum of the known costs; null if no cost is known. */
export function totalCost(models: UsageByModel): number | null {
  return Object.values(models)
    .map(({ cost }) => cost)
    .reduce(addCosts, null);
}

/** Rounded to ten decimals, so that sums do not show errors of binary fractions. */
export function addCosts(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Number((a + b).toFixed(10));
}

/** Reads own properties only: a model may have any name, including that of a property of every object. */
function combine<T>(
  a: { readonly [name: string]: T },
  b: { readonly [name: string]: T },
  both: (left: T, right: T) => T,
): { [name: string]: T } {
  const sum = new Map(Object.entries(a));
  for (const [name, right] of Object.entries(b)) {
    const left = sum.get(name);
    sum.set(name, left === undefined ? right : both(left, right));
  }
  return Object.fromEntries(sum);
}
