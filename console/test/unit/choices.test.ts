import { expect, test } from "vitest";
import { askingFor, labelOf } from "../../answers/choices.ts";

const only = (field: object): object => ({ type: "object", properties: { field } });

test("a question without fields is confirmed, one with several is a form", () => {
  expect(askingFor({ type: "object" })).toEqual({ by: "confirmation" });
  expect(askingFor({ properties: { a: {}, b: {} } })).toEqual({ by: "form" });
  expect(askingFor(only({ type: "string" }))).toEqual({ by: "form" });
});

test("a single enumeration or boolean is asked by buttons, with the names of its values", () => {
  const one = { value: "r", label: "Red" };
  const other = { value: "b", label: "Blue" };
  for (const field of [
    { type: "string", enum: ["r", "b"], enumNames: ["Red", "Blue"] },
    { oneOf: [one, other].map(({ value, label }) => ({ const: value, title: label })) },
    { anyOf: [one, other].map(({ value, label }) => ({ const: value, title: label })) },
  ]) {
    expect(askingFor(only(field))).toMatchObject({ by: "choice", choices: [one, other] });
  }
  expect(askingFor(only({ type: "boolean", title: "Sure" }))).toEqual({
    by: "choice",
    field: "field",
    about: "Sure",
    choices: [
      { value: true, label: "Yes" },
      { value: false, label: "No" },
    ],
  });
  expect(labelOf(only({ type: "boolean" }), "field", false)).toBe("No");
});

test("an enumeration with many values is a form, and so is what a schema does not describe well", () => {
  expect(askingFor(only({ enum: ["a", "b", "c", "d", "e", "f", "g"] }))).toEqual({ by: "form" });
  expect(askingFor(only({ enum: [{}, []] }))).toEqual({ by: "form" });
  expect(askingFor({ properties: [] })).toEqual({ by: "confirmation" });
});
