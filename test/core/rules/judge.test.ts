import { describe, expect, it } from "vitest";
import { type Json, parseJson } from "#core/json.ts";
import { conditionsSchema, valueConditionsSchema } from "#core/rules/condition.ts";
import { anyHolds, judge } from "#core/rules/judge.ts";

function outcome(condition: object, values: Json, callsInRun = 0): string | undefined {
  const conditions = conditionsSchema.parse([condition]);
  return judge(conditions, { values, callsInRun })[0]?.outcome;
}

/** The mistakes of a list with this one condition. */
function mistakes(
  condition: unknown,
  schema: typeof conditionsSchema = conditionsSchema,
): string[] {
  const { error } = schema.safeParse([condition]);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

describe("a condition on an argument", () => {
  it.each([
    [{ above: 100 }, 101, "holds"],
    [{ above: 100 }, 100, "fails"],
    [{ above: 100 }, 100.5, "holds"],
    [{ above: 0 }, -0, "fails"],
    [{ below: 0.5 }, 0.25, "holds"],
    [{ below: 10 }, 10, "fails"],
    [{ above: 100 }, "900", "incomparable"],
    [{ above: 100 }, null, "incomparable"],
    [{ above: 100 }, true, "incomparable"],
    [{ above: 100 }, [900], "incomparable"],
    [{ above: 100 }, { valueOf: 900 }, "incomparable"],
    [{ above: 100 }, Number.NaN, "incomparable"],
    [{ below: 100 }, Number.NaN, "incomparable"],
    [{ above: 100 }, Infinity, "holds"],
    [{ equals: "EUR" }, "EUR", "holds"],
    [{ equals: "EUR" }, "eur", "fails"],
    [{ equals: "5" }, 5, "incomparable"],
    [{ equals: 5 }, "5", "incomparable"],
    [{ equals: Number.MAX_SAFE_INTEGER }, Number.NaN, "incomparable"],
    [{ equals: null }, null, "holds"],
    [{ equals: null }, "x", "incomparable"],
    [{ equals: false }, false, "holds"],
    [{ equals: false }, 0, "incomparable"],
    [{ equals: { a: 1, b: [2] } }, { b: [2], a: 1 }, "holds"],
    [{ equals: { a: 1 } }, { a: 1, b: 2 }, "fails"],
    [{ equals: [1, 2] }, [2, 1], "fails"],
    [{ in: ["a", "b"] }, "b", "holds"],
    [{ in: ["a", "b"] }, "c", "fails"],
    [{ in: ["a", 5] }, 6, "fails"],
    [{ in: ["5"] }, 5, "incomparable"],
    [{ matches: "@example\\.com$" }, "anna@example.com", "holds"],
    [{ matches: "@example\\.com$" }, "anna@example.org", "fails"],
    [{ matches: "5" }, 5, "incomparable"],
    [{ missing: true }, null, "holds"],
    [{ missing: true }, "", "fails"],
    [{ missing: false }, 0, "holds"],
  ] as const)("%j of %j is %s", (comparison, value, expected) => {
    expect(outcome({ argument: "x", ...comparison }, { x: value as unknown as Json })).toBe(
      expected,
    );
  });

  it("compares numbers that JavaScript would change by all of their digits", () => {
    const values = parseJson('{"x": 9007199254740993, "far": 1e400, "low": -9007199254740993}');
    expect(outcome({ argument: "x", above: Number.MAX_SAFE_INTEGER }, values)).toBe("holds");
    expect(outcome({ argument: "x", below: Number.MAX_SAFE_INTEGER }, values)).toBe("fails");
    expect(outcome({ argument: "low", above: 0 }, values)).toBe("fails");
    expect(outcome({ argument: "far", above: 1 }, values)).toBe("holds");
    expect(outcome({ argument: "x", equals: 5 }, values)).toBe("fails");
  });

  it.each([
    ["order.items[1].price", "holds"],
    ["order.items.1.price", "holds"],
    ['order["net.total"]', "holds"],
    ['["order"].items[1]["price"]', "holds"],
    ["order.net.total", "incomparable"],
    ["order.items[2].price", "incomparable"],
    ["order.items.length", "incomparable"],
    ["order.items[01].price", "incomparable"],
    ["order.name.length", "incomparable"],
    ["constructor.length", "incomparable"],
    ["__proto__.x", "incomparable"],
    ["toString", "incomparable"],
  ])("finds own fields only: %s", (argument, expected) => {
    const order = { items: [{ price: 5 }, { price: 500 }], "net.total": 500, name: "long name" };
    expect(outcome({ argument, above: 100 }, { order })).toBe(expected);
  });

  it("reads a field that is called __proto__ and was sent", () => {
    const values = parseJson('{"__proto__": {"x": 500}, "": 500}');
    expect(outcome({ argument: "__proto__.x", above: 100 }, values)).toBe("holds");
    expect(outcome({ argument: '[""]', above: 100 }, values)).toBe("holds");
  });

  it("cannot compare what is nested too deep or would take too long to search", () => {
    let deep: Json = 1;
    for (let level = 0; level < 20_000; level++) deep = [deep];
    expect(outcome({ argument: "x", equals: [1] }, { x: deep })).toBe("incomparable");
    const text = "a".repeat(300_000);
    expect(outcome({ argument: "x", matches: "(a*)*(a|b){50}$" }, { x: text })).toBe(
      "incomparable",
    );
  });

  it("searches in a time that grows with the text only", () => {
    expect(outcome({ argument: "x", matches: "^(a+)+$" }, { x: `${"a".repeat(5_000)}!` })).toBe(
      "fails",
    );
  });
});

describe("the calls of a run", () => {
  it("are compared with above, in both ways to write it", () => {
    expect(outcome({ calls_in_run: true, above: 2 }, {}, 2)).toBe("fails");
    expect(outcome({ calls_in_run: true, above: 2 }, {}, 3)).toBe("holds");
    expect(outcome({ calls_in_run: { above: 2 } }, {}, 3)).toBe("holds");
  });

  it("belong to calls: events have none", () => {
    expect(valueConditionsSchema.safeParse([{ calls_in_run: true, above: 2 }]).success).toBe(false);
  });
});

it("a judgement has the value that each condition looked at", () => {
  const conditions = conditionsSchema.parse([
    { argument: "amount", above: 100 },
    { argument: "to", equals: "x" },
  ]);
  expect(judge(conditions, { values: { amount: 900 } })).toEqual([
    { condition: { argument: "amount", above: 100 }, value: 900, outcome: "holds" },
    { condition: { argument: "to", equals: "x" }, value: null, outcome: "incomparable" },
  ]);
});

it("any condition is enough for an event, and none of what cannot be compared", () => {
  const when = valueConditionsSchema.parse([
    { argument: "action", equals: "opened" },
    { argument: "n", above: 1 },
  ]);
  expect(anyHolds(when, { values: { action: "opened" } })).toBe(true);
  expect(anyHolds(when, { values: { action: 1, n: "2" } })).toBe(false);
  expect(anyHolds([], { values: {} })).toBe(false);
});

describe("a condition is refused", () => {
  it.each([
    [{}, "0.argument: is missing: name an argument of the call, or use calls_in_run"],
    [{ argument: "x" }, "0.above: is missing: compare the argument with one of above"],
    [{ argument: "x", above: 1, below: 5 }, "0.below: stands beside above"],
    [{ argument: "x", calls_in_run: true, above: 1 }, "0.calls_in_run: belongs to"],
    [{ calls_in_run: true }, "0.above: is missing"],
    [{ calls_in_run: true, above: 1.5 }, "0.above: must be a number of calls"],
    [{ calls_in_run: true, equals: 1 }, "0.equals: cannot be compared"],
    [{ argument: "a..b", above: 1 }, "0.argument: must be a path"],
    [{ argument: "", above: 1 }, "0.argument: must be a path"],
    [{ argument: "x[", above: 1 }, "0.argument: must be a path"],
    [{ argument: `a${".a".repeat(20)}`, above: 1 }, "0.argument: must be a path"],
    [{ argument: "x", above: Number.NaN }, "0.above: Invalid input: expected number"],
    [{ argument: "x", above: "100" }, "0.above: Invalid input: expected number"],
    [{ argument: "x", above: 2 ** 53 }, "0.above: is beyond the integers"],
    [{ argument: "x", equals: { n: 2 ** 60 } }, "0.equals: has an integer beyond"],
    [{ argument: "x", equals: "y".repeat(10_001) }, "0.equals: must have at most 10000"],
    [{ argument: "x", in: [] }, "0.in: Too small"],
    [{ argument: "x", matches: "(" }, "0.matches: not a valid regular expression"],
    [{ argument: "x", matches: "(a)\\1" }, "0.matches: back references"],
    [{ argument: "x", is: 5 }, "0: Unrecognized key"],
  ])("%j: %s", (condition, mistake) => {
    expect(mistakes(condition).join("; ")).toContain(mistake);
  });

  it("that follows fifty others", () => {
    const when = Array.from({ length: 51 }, () => ({ argument: "x", above: 1 }));
    expect(conditionsSchema.safeParse(when).success).toBe(false);
  });
});
