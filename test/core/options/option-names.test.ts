import { expect, test } from "vitest";
import * as z from "zod";
import { componentModelSchema } from "#core/component/component-model.ts";
import { camelCase } from "#core/options/camel-case.ts";
import { type CamelKeys, optionsOf, parseOptions } from "#core/options/option-names.ts";

const schema = z.object({
  base_url: z.url().optional(),
  max_tokens: z.int().positive().nullish(),
  default_headers: z.record(z.string(), z.string()).nullish(),
  json_schema: z.custom<{ [key: string]: unknown }>().optional(),
  token_provider: componentModelSchema.nullish(),
  rate_limits: z.array(z.object({ per_second: z.number() })).default([]),
  thinking: z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("enabled"), budget_tokens: z.int().min(10) }),
      z.object({ type: z.literal("disabled") }),
    ])
    .nullish(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
});
type Options = CamelKeys<z.input<typeof schema>>;

const options: Options = {
  baseURL: "https://models.example",
  maxTokens: 5,
  defaultHeaders: { x_team_name: "blue" },
  jsonSchema: { additional_properties: false, max_tokens: 1 },
  tokenProvider: { provider: "a.b", config: { api_key: "k" } },
  rateLimits: [{ perSecond: 1 }, { perSecond: 2 }],
  thinking: { type: "enabled", budgetTokens: 10 },
  stop: ["a_b"],
};
const config: z.output<typeof schema> = {
  base_url: "https://models.example",
  max_tokens: 5,
  default_headers: { x_team_name: "blue" },
  json_schema: { additional_properties: false, max_tokens: 1 },
  token_provider: { provider: "a.b", config: { api_key: "k" } },
  rate_limits: [{ per_second: 1 }, { per_second: 2 }],
  thinking: { type: "enabled", budget_tokens: 10 },
  stop: ["a_b"],
};

test("options are the fields of the config in camel case, except those that may have any keys", () => {
  expect(parseOptions(schema, options, "Client")).toEqual(config);
  expect(optionsOf(schema, config)).toEqual(options);
});

test.each([
  ["model", "model"],
  ["api_key", "apiKey"],
  ["base_url", "baseURL"],
  ["url", "url"],
  ["tfs_z", "tfsZ"],
])("%s becomes %s", (field, option) => {
  expect(camelCase(field)).toBe(option);
});

test("defaults are filled in, and null and undefined stay", () => {
  expect(parseOptions(schema, { maxTokens: null, baseURL: undefined }, "Client")).toEqual({
    max_tokens: null,
    rate_limits: [],
  });
});

test.each<[what: string, given: object, issues: { path: string; message: unknown }[]]>([
  [
    "the name of a field",
    { base_url: "https://models.example" },
    [{ path: "base_url", message: 'is not an option; did you mean "baseURL"?' }],
  ],
  [
    "another name",
    { thinking: { type: "enabled", budgetTokens: 10, verbosity: 1 } },
    [{ path: "thinking.verbosity", message: "is not an option; use type, budgetTokens" }],
  ],
  ["a bad value", { baseURL: "?" }, [{ path: "baseURL", message: expect.any(String) }]],
  [
    "bad values inside",
    { thinking: { type: "enabled", budgetTokens: 1 }, rateLimits: [{ perSecond: "1" }] },
    [
      { path: "rateLimits[0].perSecond", message: expect.any(String) },
      { path: "thinking.budgetTokens", message: expect.any(String) },
    ],
  ],
])("%s is refused, and the error names the option", (_what, given, issues) => {
  let error: unknown;
  try {
    parseOptions(schema, given as Options, "Client");
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ name: "ValueError", issues });
  expect((error as Error).message).toContain(`Invalid options of Client: ${issues[0]?.path}`);
});

test("paths begin with the option of the value", () => {
  const timeout = z.object({ read_timeout: z.number() });
  expect(() => parseOptions(timeout, { readTimeout: "1" as never }, "Client", "params")).toThrow(
    "params.readTimeout: ",
  );
});
