import { describe, expect, test } from "vitest";
import { ModelPrices } from "#contract/usage/model-prices.ts";

function costs(prices: object, model: string): number | null {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 100_000 };
  return ModelPrices.parse(JSON.stringify(prices)).cost(model, usage);
}

describe("MODEL_PRICES", () => {
  test("are prices per million tokens in and out", () => {
    expect(costs({ "gpt-4o": { input: 2.5, output: 10 } }, "gpt-4o")).toBe(3.5);
    const cheap = ModelPrices.parse('{"m": {"input": 0.1, "output": 0.2}}');
    expect(cheap.cost("m", { prompt_tokens: 3, completion_tokens: 0 })).toBe(0.0000003);
    expect(cheap.cost("m", { prompt_tokens: 0, completion_tokens: 0 })).toBe(0);
    expect(costs({ local: { input: 0, output: 0 } }, "local")).toBe(0);
  });

  test.each([
    ["gpt-4o", 1],
    ["gpt-4o-2024-08-06", 1],
    ["gpt-4o-20240806", 1],
    ["gpt-4o-001", 1],
    ["gpt-4o-mini", 2],
    ["gpt-4o-mini-2024-07-18", 2],
    ["gpt-4o-2024-05-13", 3],
    ["gpt-4o-audio", null],
    ["gpt-4o-5", null],
    ["gpt-4o-2024-08-06-preview", null],
    ["gpt-4o2024", null],
    ["gpt-4", null],
    ["toString", null],
    ["", null],
  ])("contain the price of %s", (model, expected) => {
    const prices = {
      "gpt-4o": { input: 1, output: 0 },
      "gpt-4o-mini": { input: 2, output: 0 },
      "gpt-4o-2024-05-13": { input: 3, output: 0 },
    };
    expect(costs(prices, model)).toBe(expected);
  });

  test("match a dated version by the longest name that it continues", () => {
    const prices = { m: { input: 1, output: 0 }, "m-0613": { input: 2, output: 0 } };
    expect(costs(prices, "m-0613-2024")).toBe(2);
  });

  test.each([undefined, "", "{}"])("may be missing: %j", (setting) => {
    const prices = ModelPrices.parse(setting);
    expect(prices.empty).toBe(true);
    expect(prices.cost("m", { prompt_tokens: 1, completion_tokens: 1 })).toBeNull();
  });

  test.each([
    ["{", "MODEL_PRICES must be JSON"],
    ["[]", "MODEL_PRICES must be {"],
    ['{"m": 1}', "m: "],
    ['{"m": {"input": 1}}', "m.output: must be a number of at least 0"],
    ['{"m": {"input": -1, "output": 1}}', "m.input: must be a number of at least 0"],
    ['{"m": {"input": "1", "output": 1}}', "m.input: must be a number of at least 0"],
    ['{"m": {"input": 1, "output": 1, "cached": 1}}', "m.cached: is not a known field"],
  ])("name the field that is wrong: %s", (setting, message) => {
    expect(() => ModelPrices.parse(setting)).toThrow(message);
  });
});
