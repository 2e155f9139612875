import { describe, expect, test } from "vitest";
import { Catalog } from "troupe";
import type { JsonObject } from "troupe";
import { answering, calling, ended, registryWith, score } from "./support.ts";

const PASSED = { score: 1, pass: true };
const FAILED = { score: 0, pass: false };

describe("texts", () => {
  test.each([
    ["ExactMatch", {}, " Oslo\n", "Oslo", PASSED],
    ["ExactMatch", {}, "oslo", "Oslo", FAILED],
    ["ExactMatch", { ignore_case: true }, "oslo", "Oslo", PASSED],
    ["ExactMatch", {}, "Kristiania", ["Oslo", "Kristiania"], PASSED],
    ["ExactMatch", {}, "42", 42, PASSED],
    ["ExactMatch", { value: "Rome" }, "Oslo", "Oslo", FAILED],
    ["Includes", {}, "It is Oslo.", "Oslo", PASSED],
    ["Includes", { value: "oslo", ignore_case: true }, "It is Oslo.", undefined, PASSED],
    ["Includes", {}, "It is Rome.", "Oslo", FAILED],
    ["Regex", { pattern: "^It is \\w+\\.$" }, "It is Oslo.", undefined, PASSED],
    ["Regex", { pattern: "\\d" }, "It is Oslo.", undefined, FAILED],
  ] as const)("%s with %j takes %j for %j: %j", async (name, config, output, expected, wanted) => {
    const run = ended({ output, expected: expected as string });
    expect(await score(name, { ...config }, run)).toMatchObject(wanted);
  });

  test("a text that fails has the reason", async () => {
    const run = ended({ output: "Rome", expected: ["Oslo", "Kristiania"] });
    expect((await score("ExactMatch", {}, run)).reason).toBe('is not "Oslo" or "Kristiania"');
  });

  test("a pattern that backtracks elsewhere takes linear time", async () => {
    const run = ended({ output: `${"a".repeat(20_000)}!` });
    expect(await score("Regex", { pattern: "^(a+)+$" }, run)).toMatchObject(FAILED);
  });

  test("an item without what a scorer needs is an error of the scorer", async () => {
    await expect(score("Includes", {}, ended({}))).rejects.toThrow(
      'the item "1" has no "expected", and the config of the scorer has no "value"',
    );
    await expect(score("ExactMatch", {}, ended({ expected: { a: 1 } }))).rejects.toThrow(
      "must be a text or a list of texts, not an object with a",
    );
  });
});

describe("NumericClose", () => {
  test.each([
    ["The sum is 1,234.5 euros", 1234, { tolerance: 0.5 }, PASSED],
    ["first 3, then 0.30000000000000004", 0.3, { tolerance: 0 }, PASSED],
    ["105", "about 100", { tolerance: 0.05, relative: true }, PASSED],
    ["106", 100, { tolerance: 0.05, relative: true }, FAILED],
    ["-2e3", -2000, { tolerance: 0 }, PASSED],
    ["none", 1, { tolerance: 1 }, FAILED],
  ])("takes %j for %j with %j: %j", async (output, expected, config, wanted) => {
    expect(await score("NumericClose", config, ended({ output, expected }))).toMatchObject(wanted);
  });
});

describe("JsonMatch", () => {
  const output = 'Here:\n```json\n{"city": "Oslo", "people": {"count": 700000}}\n```';

  test("compares all of the JSON", async () => {
    const expected = { people: { count: 700_000 }, city: "Oslo" };
    expect(await score("JsonMatch", {}, ended({ output, expected }))).toMatchObject(PASSED);
    expect(await score("JsonMatch", {}, ended({ output, expected: {} }))).toMatchObject(FAILED);
    expect(await score("JsonMatch", {}, ended({ output: "Oslo", expected }))).toMatchObject(FAILED);
  });

  test("compares fields, and the score is the share that is right", async () => {
    const run = ended({ output, expected: { city: "Oslo", people: { count: 1 } } });
    const config = { fields: ["city", "people.count"] };
    expect(await score("JsonMatch", config, run)).toEqual({
      score: 0.5,
      pass: false,
      reason: "people.count is not 1",
    });
    const fields = { "people.count": 700_000 };
    expect(await score("JsonMatch", { fields }, run)).toMatchObject(PASSED);
  });

  test("checks a schema", async () => {
    const schema = { type: "object", required: ["country"] };
    expect(await score("JsonMatch", { schema }, ended({ output }))).toMatchObject({
      ...FAILED,
      reason: expect.stringContaining("country") as string,
    });
    expect(
      await score("JsonMatch", { schema: { type: "object" } }, ended({ output })),
    ).toMatchObject(PASSED);
  });
});

describe("ToolCalls", () => {
  const messages = [calling(["search", { q: "Oslo", limit: 5 }]), calling(["open", { page: 1 }])];
  const search = { name: "search", arguments: { q: "Oslo" } };
  const open = { name: "open" };

  test.each([
    ["exact", [search, open], ""],
    ["exact", [open, search], 'call 1 is search({"q":"Oslo","limit":5}) instead of open()'],
    ["exact", [search], 'open({"page":1}) was not wanted'],
    ["exact", [search, open, open], "call 3, open(), is missing"],
    ["any", [open, search], ""],
    ["any", [open], 'search({"q":"Oslo","limit":5}) was not wanted'],
    ["subset", [open], ""],
    [
      "subset",
      [{ name: "search", arguments: { q: "Rome" } }],
      'search({"q":"Rome"}) was not called',
    ],
    ["subset", [open, open], "open() was not called"],
  ] as const)("compares in the order %s with %j: %j", async (order, calls, reason) => {
    const config = JSON.parse(JSON.stringify({ calls, order })) as JsonObject;
    const pass = reason === "";
    expect(await score("ToolCalls", config, ended({ messages }))).toEqual({
      score: pass ? 1 : 0,
      pass,
      reason,
    });
  });

  test("gives a call to the one that needs it", async () => {
    const run = ended({ messages: [calling(["get", { id: 1 }], ["get", { id: 2 }])] });
    const calls: JsonObject[] = [{ name: "get" }, { name: "get", arguments: { id: 1 } }];
    expect(await score("ToolCalls", { calls, order: "any" }, run)).toMatchObject(PASSED);
  });
});

describe("Limits", () => {
  test("names what is above", async () => {
    const run = ended({ turns: 3, seconds: 0.5 });
    expect(await score("Limits", { turns: 3, tokens: 15, seconds: 1 }, run)).toMatchObject(PASSED);
    expect(await score("Limits", { turns: 2, tokens: 14 }, run)).toEqual({
      ...FAILED,
      reason: "3 turns of 2; 15 tokens of 14",
    });
  });

  test("a cost that is unknown is an error of the scorer", async () => {
    await expect(score("Limits", { cost: 1 }, ended({}))).rejects.toThrow("the cost is unknown");
    expect(await score("Limits", { cost: 1 }, ended({ cost: 0.5 }))).toMatchObject(PASSED);
  });
});

describe("judges", () => {
  const choices = { good: 1, fair: 0.5, poor: 0 };
  const run = ended({ output: "A haiku." });

  test("a model judges with a choice and its reason", async () => {
    const model_client = answering('{"reason": "Short.", "choice": "Fair"}');
    const config = { model_client, rubric: "Is it a haiku?", choices };
    expect(await score("ModelJudge", config, run)).toEqual({
      score: 0.5,
      pass: true,
      reason: "fair: Short.",
    });
  });

  test("a model that gives no verdict is asked once more", async () => {
    const again = answering("Nice!", '```json\n{"reason": "Fine.", "choice": "yes"}\n```');
    const config = { rubric: "Is it a haiku?" };
    expect(await score("ModelJudge", { ...config, model_client: again }, run)).toMatchObject(
      PASSED,
    );
    const never = answering("Nice!", '{"choice": "perhaps"}');
    await expect(score("ModelJudge", { ...config, model_client: never }, run)).rejects.toThrow(
      'the judge gave no verdict: chose "perhaps"',
    );
  });

  test("a team judges by its last message", async () => {
    const member = (name: string, answer: string): JsonObject => ({
      provider: "AssistantAgent",
      config: { name, model_client: { ...answering(answer) } as JsonObject },
    });
    const team = {
      provider: "RoundRobinGroupChat",
      config: {
        participants: [member("reader", "Not bad."), member("head", '{"choice": "poor"}')],
        max_turns: 2,
      },
    };
    const config = { team, rubric: "Is it a haiku?", choices };
    expect(await score("TeamJudge", config, run)).toEqual({ ...FAILED, reason: "poor" });
  });
});

describe("a registered function", () => {
  test.each([
    [true, PASSED],
    [0.4, { score: 0.4, pass: false }],
    [
      { score: 0.4, pass: true, reason: "close" },
      { score: 0.4, pass: true, reason: "close" },
    ],
    [
      { score: null, reason: "unclear" },
      { score: null, pass: null, reason: "unclear" },
    ],
  ])("scores by what it returns: %j", async (value, wanted) => {
    const catalog = new Catalog();
    catalog.registerFunction("length", () => value);
    const registry = registryWith(undefined, catalog);
    const config = { function: "length" };
    expect(await score("FunctionScorer", config, ended({}), registry)).toMatchObject(wanted);
  });

  test("must return a score", async () => {
    const catalog = new Catalog();
    catalog.registerFunction("length", () => 17);
    await expect(
      score("FunctionScorer", { function: "length" }, ended({}), registryWith(undefined, catalog)),
    ).rejects.toThrow('the function "length" must return true, false, a number from 0 to 1');
  });
});

test.each([
  ["Regex", { pattern: "(" }, "config.pattern"],
  ["Regex", { pattern: "(a)\\1" }, "config.pattern"],
  ["Includes", { values: "a" }, "config.values"],
  ["JsonMatch", { schema: { $ref: "#/nowhere" } }, "config.schema"],
  ["JsonMatch", { fields: ["a..b"] }, "config.fields"],
  ["Limits", {}, "config"],
  [
    "ModelJudge",
    { rubric: "Good?", model_client: answering(), choices: { yes: 2, no: 0 } },
    "config.choices.yes",
  ],
  ["PythonScorer", { source_code: "x = 1" }, "config.source_code"],
] as const)("%s names the field that is wrong in %j", (name, config, path) => {
  const issues = registryWith().validate({ provider: name, config }, "scorer");
  expect(issues.map((issue) => issue.path)).toContainEqual(
    expect.stringContaining(`component.${path}`),
  );
});
