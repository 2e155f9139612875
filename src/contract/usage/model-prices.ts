import { ValueError } from "../../core/errors.ts";
import { fieldIssues, type FieldRule } from "../../core/field-checks.ts";
import { listIssues } from "../../core/issues.ts";
import { isJsonObject } from "../../core/json.ts";
import type { TokenUsage } from "../../core/models/request-usage.ts";

const PRICE: FieldRule = {
  accepts: (value) => Number.isFinite(value) && Number(value) >= 0,
  message: "must be a number of at least 0",
};

const OPTIONAL_PRICE: FieldRule = { ...PRICE, optional: true };

const FORM =
  '{ "model": { "input": price, "output": price, "cached_in"?: price, "cache_write"?: price } }, per million tokens';

const TOKENS_PER_PRICE = 1_000_000;

/** The end of a dated model name: `-2024-08-06`, `-20241022`, `-0613`. */
const VERSION = /^-\d{3,}(-\d+)*$/;

export interface ModelPrice {
  input: number;
  output: number;
  /** Price of prompt tokens that are read from the cache; by default, that of other prompt tokens. */
  cached_in?: number;
  /** Price of prompt tokens that are written to the cache; by default, that of other prompt tokens. */
  cache_write?: number;
}

/** The prices of models in one currency (setting `MODEL_PRICES`). */
export class ModelPrices {
  readonly #prices: ReadonlyMap<string, ModelPrice>;

  private constructor(prices: ReadonlyMap<string, ModelPrice>) {
    this.#prices = prices;
  }

  /** @param setting `MODEL_PRICES`; without it no price is known @throws ValueError naming the invalid field */
  static parse(setting: string | undefined): ModelPrices {
    if (!setting) return new ModelPrices(new Map());
    let value: unknown;
    try {
      value = JSON.parse(setting);
    } catch {
      throw new ValueError(`MODEL_PRICES must be JSON: ${FORM}`);
    }
    if (!isJsonObject(value)) throw new ValueError(`MODEL_PRICES must be ${FORM}`);
    const issues = Object.entries(value).flatMap(([model, price]) =>
      fieldIssues(
        price,
        { input: PRICE, output: PRICE, cached_in: OPTIONAL_PRICE, cache_write: OPTIONAL_PRICE },
        model,
      ),
    );
    if (issues.length > 0) {
      throw new ValueError(`MODEL_PRICES must be ${FORM}: ${listIssues(issues)}`);
    }
    const prices: object = value;
    return new ModelPrices(new Map(Object.entries(prices as { [model: string]: ModelPrice })));
  }

  /** True if no price is known. */
  get empty(): boolean {
    return this.#prices.size === 0;
  }

  /** The prices of a million tokens; undefined if the model has none. */
  of(model: string): Readonly<ModelPrice> | undefined {
    return this.#price(model);
  }

  /** The cost of tokens, rounded to ten decimals; null if the model has no price. */
  cost(model: string, usage: TokenUsage): number | null {
    const found = this.#price(model);
    if (found === undefined) return null;
    const { prompt_tokens, completion_tokens, cached_tokens = 0, cache_write_tokens = 0 } = usage;
    const total =
      (prompt_tokens - cached_tokens - cache_write_tokens) * found.input +
      cached_tokens * (found.cached_in ?? found.input) +
      cache_write_tokens * (found.cache_write ?? found.input) +
      completion_tokens * found.output;
    return Number((total / TOKENS_PER_PRICE).toFixed(10));
  }

  /** Finds the price of this name or, for a dated version of a model, of the longest name that it extends. */
  #price(model: string): ModelPrice | undefined {
    const exact = this.#prices.get(model);
    if (exact !== undefined) return exact;
    let longest: string | undefined;
    for (const name of this.#prices.keys()) {
      const matches = model.startsWith(name) && VERSION.test(model.slice(name.length));
      if (matches && name.length > (longest?.length ?? -1)) longest = name;
    }
    return longest === undefined ? undefined : this.#prices.get(longest);
  }
}
