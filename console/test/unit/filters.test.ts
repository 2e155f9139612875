import { expect, test } from "vitest";
import {
  type Filter,
  filterIsComplete,
  filterOf,
  type TypedCondition,
  typedFilter,
} from "../../triggers/filter.ts";

const typed = (comparison: TypedCondition["comparison"], value: string): TypedCondition => ({
  argument: "order.total",
  comparison,
  value,
});

test("a typed condition becomes the value that its text means", () => {
  const conditions = [
    typed("equals", "open"),
    typed("equals", "42"),
    typed("equals", '"42"'),
    typed("in", "DE, AT, 7"),
    typed("in", '["a, b", null]'),
    typed("above", " 50 "),
    typed("matches", " ^main$"),
    typed("missing", ""),
    typed("missing", "false"),
  ];
  const argument = "order.total";
  expect(filterOf(conditions)).toEqual({
    when: [
      { argument, equals: "open" },
      { argument, equals: 42 },
      { argument, equals: "42" },
      { argument, in: ["DE", "AT", 7] },
      { argument, in: ["a, b", null] },
      { argument, above: 50 },
      { argument, matches: " ^main$" },
      { argument, missing: true },
      { argument, missing: false },
    ],
  });
  expect(filterOf([])).toBeNull();
});

test("a stored filter is the same after it was shown and sent", () => {
  const values = ["open", "42", 42, " edge ", "", true, null, { a: [1] }, "[x", '"', "a, b"];
  const argument = "a";
  const filter: Filter = {
    when: [
      ...values.map((equals) => ({ argument, equals })),
      ...values.map((value) => ({ argument, in: ["DE", value] })),
      { argument, in: ["[1]"] },
      { argument, in: [[1]] },
      { argument, below: -0.5 },
      { argument, matches: "\\d+ " },
      { argument, missing: false },
    ],
  };
  expect(filterOf(typedFilter(filter))).toEqual(filter);
  expect(typedFilter(null)).toEqual([]);
});

test("a form is complete when each condition has a path and a fitting value", () => {
  expect(filterIsComplete([typed("missing", ""), typed("below", "1e3")])).toBe(true);
  expect(filterIsComplete([typed("above", "much")])).toBe(false);
  expect(filterIsComplete([typed("equals", " ")])).toBe(false);
  expect(filterIsComplete([{ ...typed("equals", "a"), argument: " " }])).toBe(false);
});
