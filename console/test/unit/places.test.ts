import { expect, test } from "vitest";
import { errorTree } from "../../forms/problems.ts";
import { stepsOf } from "../../parts/json-path.ts";
import { jsonPlaces } from "../../teams/json-places.ts";

const TEXT = `{
  "provider": "RoundRobinGroupChat",
  "config": {
    "participants": [
      { "provider": "NoSuchAgent" }
    ]
  }
}`;

test("the place of a problem has names and numbers as its steps", () => {
  expect(stepsOf("component.config.participants[0].provider")).toEqual([
    "config",
    "participants",
    0,
    "provider",
  ]);
  expect(stepsOf("component")).toEqual([]);
});

test("a place has its line, and a missing field has the line of its parent", () => {
  const { value, error, lineOf } = jsonPlaces(TEXT);
  expect(error).toBeUndefined();
  expect(value).toEqual(JSON.parse(TEXT));
  expect(lineOf("component.config.participants[0].provider")).toBe(5);
  expect(lineOf("component.config.max_turns")).toBe(3);
  expect(lineOf("component")).toBe(1);
});

test("a text that is not JSON has a line and a reason", () => {
  const { error } = jsonPlaces('{\n  "a": 1,\n  "b": }');
  expect(error).toEqual({ line: 3, path: "", message: "This is not JSON: value expected" });
});

test("a form gets all problems at their places, whatever the names are", () => {
  const problems = [
    { steps: ["tools", 0, "name"], message: "is empty" },
    { steps: ["tools", 0, "name"], message: "is taken" },
    { steps: [], message: "is incomplete" },
    { steps: ["__proto__"], message: "is not an option" },
  ];
  const tree = errorTree(problems);
  expect(tree.__errors).toEqual(["is incomplete"]);
  expect(tree).toMatchObject({
    tools: { "0": { name: { __errors: ["is empty", "is taken"] } } },
  });
  expect(({} as Record<string, unknown>)["__errors"]).toBeUndefined();
});
