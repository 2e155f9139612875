import { describe, expect, test } from "vitest";
import type { TurnInfo } from "troupe/client";
import { roundsOf } from "../../picture/ledger-rounds.ts";
import { tableIn } from "../../text/csv.ts";

describe("a table of separated values", () => {
  test.each([
    [
      "a,b\n1,2",
      [
        ["a", "b"],
        ["1", "2"],
      ],
    ],
    [
      "a,b\r\n1,\r\n",
      [
        ["a", "b"],
        ["1", ""],
      ],
    ],
    [
      'a,b\n"x, ""y""\nz",2',
      [
        ["a", "b"],
        ['x, "y"\nz', "2"],
      ],
    ],
    ["a,b\n1,2,3", undefined],
    ["one line, with a comma", undefined],
    ["no\ncommas", undefined],
    ['a,b\n"open,2', undefined],
    ["", undefined],
  ])("is read from %j as %j", (text, rows) => {
    expect(tableIn(text)).toEqual(rows);
  });

  test("is separated by tabs", () => {
    expect(tableIn("a\tb\n1\t2, 3", "\t")).toEqual([
      ["a", "b"],
      ["1", "2, 3"],
    ]);
  });
});

test("rounds of the ledgers are the turns that changed one, each with the task ledger of its time", () => {
  const progress = (rounds: number, answer: string | null) => ({
    rounds,
    stalls: 0,
    next: "work",
    entry: answer === null ? null : { next_speaker: { answer, reason: "" } },
  });
  const turn = (number: number, task: object | null, ...given: Parameters<typeof progress>) => ({
    turn: number,
    ledgers: { task_ledger: task, progress_ledger: progress(...given) },
  });
  const first = { facts: "f", plan: "p" };
  const second = { facts: "g", plan: "q" };
  const turns = [
    turn(1, { facts: "", plan: "" }, 0, null),
    turn(2, first, 0, null),
    turn(3, null, 1, "ann"),
    { turn: 4, ledgers: null },
    turn(5, null, 1, "ann"),
    turn(6, second, 1, "ann"),
    turn(7, null, 2, "bob"),
  ] as unknown as TurnInfo[];
  expect(roundsOf(turns).map(({ turn: number, task }) => [number, task])).toEqual([
    [2, first],
    [3, first],
    [6, second],
    [7, second],
  ]);
});

test("rounds of a team inside a participant may be several in one turn, and those of other teams are not among them", () => {
  const nested = (team: string[], task_ledger: object | null, rounds: number) => ({
    team,
    task_ledger,
    progress_ledger: { rounds, stalls: 0, next: "work", entry: null },
  });
  const [first, second] = [
    { facts: "f", plan: "p" },
    { facts: "g", plan: "q" },
  ];
  const turns = [
    { turn: 1, ledgers: null, nested_ledgers: [] },
    {
      turn: 2,
      ledgers: null,
      nested_ledgers: [
        nested(["mind", "crew"], first, 0),
        nested(["mind"], second, 0),
        nested(["mind", "crew"], null, 1),
      ],
    },
    { turn: 3, ledgers: null, nested_ledgers: [nested(["mind", "crew"], second, 2)] },
  ] as unknown as TurnInfo[];
  const rounds = roundsOf(turns, ["mind", "crew"]);
  expect(rounds.map(({ turn, task, progress }) => [turn, task, progress.rounds])).toEqual([
    [2, first, 0],
    [2, first, 1],
    [3, second, 2],
  ]);
  expect(new Set(rounds.map(({ key }) => key)).size).toBe(3);
  expect(roundsOf(turns)).toEqual([]);
});
