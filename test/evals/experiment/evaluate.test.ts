import { describe, expect, test } from "vitest";
import { registerFunction, type TroupeError } from "troupe";
import { evaluate, type EvaluateOptions } from "troupe/testing";
import { agent, model, scripted } from "./support.ts";
import { AssistantAgent } from "troupe";

const INCLUDES = { provider: "troupe.scorers.Includes" };
const CAPITALS = [
  { id: "norway", task: "Norway?", expected: "Oslo" },
  { id: "italy", task: "Italy?", expected: "Rome" },
];

/** What the mistakes in an evaluation are called. */
async function issuesOf(options: unknown): Promise<string[]> {
  const error = await evaluate(options as EvaluateOptions).catch((thrown: TroupeError) => thrown);
  if (!("issues" in error)) throw new Error("it has no mistakes");
  return error.issues.map(({ path, message }) => `${path}: ${message}`);
}

describe("the result", () => {
  test("has cells, summaries and comparisons as the API has them", async () => {
    const { id, results, ...rest } = await evaluate({
      name: "capitals",
      data: CAPITALS,
      variants: [
        { name: "old", component: agent("I do not know.") },
        { name: "new", component: agent("It is Oslo.") },
      ],
      scorers: [INCLUDES],
      repetitions: 2,
      prices: { unknown: { input: 1, output: 2 } },
    });
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(rest).toMatchObject({
      name: "capitals",
      status: "completed",
      dataset: null,
      cells: { total: 8, done: 8, failed: 0 },
      summary: {
        old: { scores: { Includes: { mean: 0, pass_rate: 0, n: 2 } } },
        new: { scores: { Includes: { mean: 0.5, pass_rate: 0.5, n: 2 } } },
      },
      comparisons: [
        { variants: ["old", "new"], scorer: "Includes", difference: 0.5, enough: false },
      ],
    });
    expect(
      results.map(({ item, variant, repetition }) => `${item} ${variant} ${repetition}`),
    ).toEqual([
      "norway old 1",
      "norway old 2",
      "norway new 1",
      "norway new 2",
      "italy old 1",
      "italy old 2",
      "italy new 1",
      "italy new 2",
    ]);
    expect(results[2]).toMatchObject({
      team_id: null,
      run_id: null,
      status: "completed",
      output: "It is Oslo.",
      scores: { Includes: { score: 1, pass: true, reason: "" } },
    });
    expect(JSON.parse(JSON.stringify(rest))).toEqual(rest);
  });

  test("counts tokens and their cost, those of calls that are in no message included", async () => {
    const usage = { prompt_tokens: 300, completion_tokens: 20 };
    const reply = { content: "Oslo", model: "small", usage };
    const { summary, results } = await evaluate({
      data: [{ task: "Norway?" }],
      variants: [
        {
          name: "a",
          create: () => new AssistantAgent({ name: "a", modelClient: scripted({ ...reply }) }),
        },
      ],
      scorers: [
        { provider: "Limits", config: { tokens: 320, turns: 1, cost: 0.0004 } },
        { name: "cheap", score: ({ cost }) => cost === 0.00034 },
      ],
      prices: { small: { input: 1, output: 2 } },
    });
    expect(summary["a"]).toMatchObject({ usage, cost: 0.00034 });
    expect(results[0]?.scores).toMatchObject({ Limits: { pass: true }, cheap: { pass: true } });
  });

  test("a cost without a price is unknown, and a judge that fails is in no mean", async () => {
    const { summary, results } = await evaluate({
      data: [{ task: "Norway?" }, { task: "Italy?", expected: "Oslo" }],
      variants: [{ name: "a", component: agent("Oslo") }],
      scorers: [INCLUDES, { provider: "Limits", config: { cost: 1 } }],
    });
    expect(summary["a"]).toMatchObject({
      cost: null,
      scores: {
        Includes: { mean: 1, n: 1 },
        Limits: { mean: null, pass_rate: null, low: null, high: null, n: 0 },
      },
    });
    expect(results[0]?.scores).toMatchObject({
      Includes: { score: null, pass: null, reason: expect.stringContaining("expected") as string },
    });
  });

  test("a run that fails scores 0 and says why", async () => {
    const broken = new Error("no such model");
    const { cells, summary, results } = await evaluate({
      data: CAPITALS,
      variants: [
        {
          name: "a",
          create: ({ id }) =>
            new AssistantAgent({
              name: "a",
              modelClient: scripted(id === "italy" ? broken : "Oslo"),
            }),
        },
      ],
      scorers: [INCLUDES, { provider: "Limits", config: { turns: 9 } }],
    });
    expect(cells).toEqual({ total: 2, done: 2, failed: 1 });
    expect(summary["a"]?.scores).toMatchObject({
      Includes: { mean: 0.5, n: 2 },
      Limits: { mean: 0.5 },
    });
    expect(results[1]).toMatchObject({
      status: "failed",
      output: null,
      error: { message: expect.stringContaining("no such model") as string },
      scores: { Includes: { score: 0, pass: false } },
    });
  });
});

describe("variants", () => {
  test("a patch changes another variant, which may be a template or a patch itself", async () => {
    const { summary } = await evaluate({
      data: [{ task: "Norway?", expected: "Oslo" }],
      variants: [
        {
          name: "third",
          base: "second",
          patch: [
            {
              op: "replace",
              path: "/config/model_client/config/chat_completions/0",
              value: "Oslo",
            },
          ],
        },
        {
          name: "second",
          base: "first",
          patch: [{ op: "remove", path: "/config/system_message" }],
        },
        { name: "first", component: agent("Rome") },
      ],
      scorers: [INCLUDES],
    });
    const means = Object.entries(summary).map(([name, { scores }]) => [
      name,
      scores["Includes"]?.mean,
    ]);
    expect(means).toEqual([
      ["third", 1],
      ["second", 0],
      ["first", 0],
    ]);
  });

  test("a template of Troupe is a variant", async () => {
    const { summary, results } = await evaluate({
      data: [{ task: "Write about the sea." }],
      variants: [{ name: "shipped", template: "writer_critic" }],
      scorers: [{ name: "long", score: ({ output }) => output.length > 0 }],
    });
    expect(results[0]).toMatchObject({ status: "completed" });
    expect(summary["shipped"]?.scores).toMatchObject({ long: { mean: 1 } });
  });

  test("each run has a team of its own", async () => {
    const { results } = await evaluate({
      data: CAPITALS,
      variants: [{ name: "a", component: agent("first", "second") }],
      scorers: [INCLUDES],
    });
    expect(results.map(({ output }) => output)).toEqual(["first", "first"]);
  });
});

describe("the baseline", () => {
  const variants = [
    { name: "a", component: agent("Oslo") },
    { name: "b", component: agent("Rome") },
    { name: "c", component: agent("Paris") },
  ];

  test("each pair is compared without one, and with a variant the others with it", async () => {
    const options = { data: CAPITALS, variants, scorers: [INCLUDES] };
    const all = await evaluate(options);
    expect(all.comparisons.map((one) => one.variants.join())).toEqual(["a,b", "a,c", "b,c"]);
    const some = await evaluate({ ...options, baseline: "b" });
    expect(some.comparisons.map((one) => one.variants.join())).toEqual(["b,a", "b,c"]);
  });

  test("earlier results are compared item by item with the variant of the same name, or with the only one", async () => {
    const options = { data: CAPITALS, scorers: [INCLUDES] };
    const earlier = await evaluate({ ...options, variants: variants.slice(2) });
    const baseline = JSON.parse(JSON.stringify(earlier)) as typeof earlier;
    const later = await evaluate({ ...options, variants: variants.slice(0, 1), baseline });
    expect(later.comparisons).toMatchObject([
      { variants: ["c@baseline", "a"], scorer: "Includes", difference: 0.5 },
    ]);
  });
});

describe("scorers", () => {
  test("a registered function, a judge and one with a name score the same run", async () => {
    registerFunction("short_answer", () => 0.25);
    const { summary } = await evaluate({
      data: [{ task: "Norway?", expected: "Oslo" }],
      variants: [{ name: "a", component: agent("Oslo") }],
      scorers: [
        { provider: "FunctionScorer", config: { function: "short_answer" } },
        {
          name: "polite",
          provider: "ModelJudge",
          config: { model_client: model('{"choice": "no"}'), rubric: "Is it polite?" },
        },
        { name: "exact", provider: "ExactMatch" },
      ],
    });
    expect(summary["a"]?.scores).toMatchObject({
      FunctionScorer: { mean: 0.25, pass_rate: 0 },
      polite: { mean: 0 },
      exact: { mean: 1 },
    });
  });
});

describe("an evaluation", () => {
  const good = {
    data: CAPITALS,
    variants: [{ name: "a", component: agent("x") }],
    scorers: [INCLUDES],
  };

  test.each([
    [{ ...good, repetition: 2 }, "repetition: is not a known field"],
    [{ ...good, concurrency: 51 }, "concurrency: "],
    [{ ...good, data: [] }, "data: "],
    [{ ...good, data: [{ expected: "x" }] }, "data[0].task: is missing"],
    [
      { ...good, data: [{ task: "a", expect: "x" }] },
      "data[0].expect: is not a known field; use id, task, expected",
    ],
    [
      { ...good, data: [{ from: { team: "t", run: "r" } }] },
      "data[0].from: begins at a run that a server has stored",
    ],
    [
      {
        ...good,
        data: [
          { id: "a", task: "x" },
          { id: "a", task: "y" },
        ],
      },
      'data[1].id: "a" is the id of an earlier item',
    ],
    [
      { ...good, data: [{ task: "x", answers: [{ kind: "approval", answer: "yes" }] }] },
      "data[0].answers[0].answer: must be true, false or",
    ],
    [
      { ...good, variants: [{ name: "a", template: "writer_critics" }] },
      'variants[0].template: there is no template "writer_critics"; did you mean "writer_critic"?',
    ],
    [
      { ...good, variants: [{ name: "a", base: "a", patch: [{ op: "remove", path: "/x" }] }] },
      'variants[0].base: "a" begins with this variant itself',
    ],
    [
      {
        ...good,
        variants: [
          ...good.variants,
          { name: "b", base: "a", patch: [{ op: "replace", path: "/config/nam", value: 1 }] },
        ],
      },
      "variants[1].patch[0]: cannot be applied: there is nothing at /config/nam",
    ],
    [
      {
        ...good,
        variants: [
          { name: "a", component: { provider: "AssistantAgent", config: { name: "a b" } } },
        ],
      },
      "variants[0].component.config",
    ],
    [
      { ...good, scorers: [{ provider: "Regex", config: { pattern: "(" } }] },
      "scorers[0].config.pattern: ",
    ],
    [{ ...good, scorers: [{ provider: "Include" }] }, "scorers[0].provider: "],
    [
      { ...good, scorers: [INCLUDES, INCLUDES] },
      'scorers[1].name: "Includes" is the name of an earlier scorer',
    ],
    [{ ...good, baseline: "b" }, 'baseline: must be the name of a variant (a), not "b"'],
    [{ ...good, user: { model_client: model(), goal: "x" } }, "user.max_turns: "],
  ])("names the field that is wrong before it runs: case %#", async (options, wanted) => {
    expect(await issuesOf(options)).toContainEqual(expect.stringContaining(wanted));
  });

  test("that is stopped keeps what is done", async () => {
    const stop = new AbortController();
    const { status, cells, results } = await evaluate({
      ...good,
      concurrency: 1,
      signal: stop.signal,
      onCell: () => stop.abort(),
    });
    expect({ status, cells }).toEqual({
      status: "stopped",
      cells: { total: 2, done: 1, failed: 0 },
    });
    expect(results.map(({ item }) => item)).toEqual(["norway"]);
  });

  test("runs no more at once than it may", async () => {
    let [running, most] = [0, 0];
    const data = Array.from({ length: 9 }, () => ({ task: "x" }));
    const create = (): AssistantAgent =>
      new AssistantAgent({
        name: "a",
        modelClient: scripted(async () => {
          most = Math.max(most, ++running);
          await Promise.resolve();
          running--;
          return "done";
        }),
      });
    await evaluate({ ...good, data, variants: [{ name: "a", create }], concurrency: 3 });
    expect(most).toBeLessThanOrEqual(3);
    expect(most).toBeGreaterThan(1);
  });
});
