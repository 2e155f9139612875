import { describe, expect, test } from "vitest";
import { mentionedNames } from "#core/teams/selector/ask-model.ts";

const NAMES = ["web_tester", "tester", "web"];

describe("the names in a model's reply", () => {
  test.each<[reply: string, mentioned: string[]]>([
    ["web_tester", ["web_tester"]],
    ["The web tester, please.", ["web_tester", "tester", "web"]],
    ["web\\_tester!", ["web_tester", "web"]],
    ["(web)", ["web"]],
    ["tester\nand tester", ["tester"]],
    ["WEB", []],
    ["web_testers, webs and testers", []],
    ["webé", []],
    ["網web", []],
    ["web²", []],
    ["web\u0301", ["web"]],
    ["", []],
  ])("are found: %j mentions %j", (reply, mentioned) => {
    expect(mentionedNames(reply, NAMES)).toEqual(mentioned);
  });

  test("may contain characters with a meaning in patterns, as names of teams do", () => {
    const names = ["c++ (team)", "a.b", "x|y", "two-words"];
    expect(mentionedNames("ask c++ (team) or aXb", names)).toEqual(["c++ (team)"]);
    expect(mentionedNames("a.b, x|y and two-words", names)).toEqual(["a.b", "x|y", "two-words"]);
    expect(mentionedNames("x", names)).toEqual([]);
  });
});
