import { describe, expect, test } from "vitest";
import { evaluate } from "#service/templates/tools/expression.ts";
import { timeIn } from "#service/templates/tools/current-time.ts";

describe("the tool evaluate", () => {
  test.for([
    ["1 + 2 * 3", 7],
    ["(1 + 2) * 3", 9],
    ["2 ^ 3 ^ 2", 512],
    ["-2 ^ 2", -4],
    ["2 ^ -1", 0.5],
    ["--3 - -4", 7],
    ["10 - 4 - 3", 3],
    ["100 / 10 / 5", 2],
    ["7 % 4", 3],
    [".5e1 + 1.", 6],
    ["1e3", 1000],
    ["sqrt(2) * SQRT(2)", 2.0000000000000004],
    ["max(1, min(5, 3), 2)", 3],
    ["2*pi", 2 * Math.PI],
    ["ln(e)", 1],
    [" 42 ", 42],
  ] as const)("%s is %d", ([expression, value]) => {
    expect(evaluate(expression)).toBe(value);
  });

  test.for([
    "",
    " ",
    "1 +",
    "1 2",
    "(1",
    "1)",
    "max(1,",
    "max()",
    "sqrt 2",
    "constructor",
    "toString()",
    "x = 1",
    "1; 2",
    "process.exit()",
    "1..2",
    "1 / 0",
    "sqrt(-1)",
    "0x10",
    "(".repeat(500) + "1" + ")".repeat(500),
    `${"-".repeat(900)}1`,
    `${"2^".repeat(400)}2`,
  ])("refuses %s", (expression) => {
    expect(() => evaluate(expression)).toThrow(expect.objectContaining({ code: "invalid_value" }));
  });
});

describe("the tool timeIn", () => {
  test("reports date, weekday and time of a zone", () => {
    const time = new Date("2026-03-02T23:04:05Z");
    expect(timeIn("UTC", time)).toBe("Monday, 2 March 2026 at 23:04:05 (UTC)");
    expect(timeIn("Europe/Berlin", time)).toContain("Tuesday, 3 March 2026 at 00:04:05");
  });

  test.for(["Mars/Olympus", "", "../etc"])("refuses the zone %s", (zone) => {
    expect(() => timeIn(zone, new Date())).toThrow("time zone");
  });
});
