import { expect, test } from "vitest";
import { begin, changed, changedPath, redone, undone } from "../../component/history.ts";

test("typing in a field is one change, and typing in another field is another one", () => {
  const start = { name: "", text: "", list: [1] };
  let history = begin(start);
  for (const name of ["a", "ab", "abc"]) history = changed(history, { ...history.now, name });
  history = changed(history, { ...history.now, text: "x" });
  expect(history.past).toHaveLength(2);
  history = undone(history);
  expect(history.now).toEqual({ ...start, name: "abc" });
  history = undone(history);
  expect(history.now).toEqual(start);
  expect(undone(history)).toBe(history);
  history = redone(redone(history));
  expect(history.now).toEqual({ ...start, name: "abc", text: "x" });
  expect(redone(history)).toBe(history);
});

test("a change after an undone one replaces it, and an equal value is not a change", () => {
  let history = changed(begin({ list: [1] }), { list: [1, 2] });
  history = changed(history, { list: [1, 2, 3] });
  expect(history.past).toHaveLength(2);
  history = changed(undone(history), { list: [4] });
  expect(history.future).toEqual([]);
  expect(changed(history, { list: [4] }).past).toEqual(history.past);
});

test("the place of a change is the innermost one around all differences", () => {
  expect(changedPath({ a: [{ b: 1, c: 2 }] }, { a: [{ b: 1, c: 3 }] })).toEqual(["a", 0, "c"]);
  expect(changedPath({ a: { b: 1, c: 2 } }, { a: { b: 2, c: 3 } })).toEqual(["a"]);
  expect(changedPath({ a: 1 }, { a: 1 })).toBeUndefined();
  expect(changedPath({ a: 1 }, { b: 1 })).toEqual([]);
});
