import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "troupe";
import { ledgerOutput, readLedger } from "#core/teams/magentic-one/progress-ledger.ts";
import { ledger, type LedgerAnswers, ledgerObject } from "../../support/ledger.ts";

const NAMES = ["ann", "bob"];

function without(entry: string): string {
  const { [entry]: _, ...rest } = ledgerObject();
  return JSON.stringify(rest);
}

function having(entry: string, value: Json): string {
  return JSON.stringify({ ...ledgerObject(), [entry]: value });
}

const ENTRIES = Object.keys(ledgerObject());

describe("a progress ledger", () => {
  test("names the next speaker and the instruction", () => {
    expect(readLedger(ledger({ speaker: "bob", say: "dig" }), NAMES)).toMatchObject({
      assessment: { satisfied: false, stalling: false, speaker: "bob", instruction: "dig" },
      entry: { next_speaker: { answer: "bob" }, instruction_or_question: { answer: "dig" } },
    });
  });

  test("contains the reason why the request is satisfied, whoever it names then", () => {
    const done = ledger({ satisfied: true, reason: "it is there", speaker: null, say: null });
    expect(readLedger(done, NAMES)).toMatchObject({
      assessment: { satisfied: true, reason: "it is there" },
    });
  });

  test.each<[LedgerAnswers, boolean]>([
    [{ progress: true, loop: false }, false],
    [{ progress: false, loop: false }, true],
    [{ progress: true, loop: true }, true],
    [{ progress: false, loop: true }, true],
    [{ progress: "yes", loop: "" }, false],
    [{ progress: 0 }, true],
    [{ progress: {}, loop: [] }, true],
    [{ progress: ["some"], loop: {} }, false],
    [{ progress: null }, true],
  ])("%j means that stalling is %s", (answers, stalling) => {
    expect(readLedger(ledger(answers), NAMES)).toMatchObject({ assessment: { stalling } });
  });

  test.each(["```json\n", "```\n", "Here it is:\n```JSON\n", "``` json\n", "So: "])(
    "may stand in other text that begins with %j",
    (fence) => {
      expect(
        readLedger(`${fence}${ledger()}\n${fence.includes("`") ? "```" : ""}\n`, NAMES),
      ).toHaveProperty("assessment");
    },
  );

  test.each<[string, string, RegExp]>([
    ["words", "not yet", /^not JSON: Expecting value: line 1 column 1/],
    ["an empty text", "", /^not JSON/],
    ["a list", `[${ledger()}]`, /must be an object, not a list/],
    ["a text", '"ann"', /must be an object, not a text/],
    ["null", "null", /must be an object, not null/],
    ["two ledgers", `${ledger()}\n${ledger({ speaker: "bob" })}`, /has 2 JSON values/],
    ["code", "```python\n{}\n```", /^is_request_satisfied: is missing/],
    ["a broken code block", "```json\n{\n```", /^not JSON/],
    ["a stranger", ledger({ speaker: "eve" }), /^next_speaker\.answer: must be one of ann, bob$/],
    ["two speakers", ledger({ speaker: ["ann", "bob"] }), /^next_speaker\.answer/],
    ["no instruction", ledger({ say: null }), /^instruction_or_question\.answer: must be a text/],
    [
      "no reason to end",
      ledger({ satisfied: true, reason: null }),
      /^is_request_satisfied\.reason: must be a text/,
    ],
    ...ENTRIES.flatMap((entry): [string, string, RegExp][] => [
      [`no ${entry}`, without(entry), new RegExp(`^${entry}: `)],
      [`a bare ${entry}`, having(entry, true), new RegExp(`^${entry}: `)],
      [`no answer in ${entry}`, having(entry, { reason: "r" }), new RegExp(`^${entry}\\.answer: `)],
      [
        `no reason in ${entry}`,
        having(entry, { answer: true }),
        new RegExp(`^${entry}\\.reason: `),
      ],
    ]),
  ])("cannot be followed if %s", (_what, text, fault) => {
    expect(readLedger(text, NAMES)).toEqual({ fault: expect.stringMatching(fault) as string });
  });

  test("selects the only participant, whoever it names", () => {
    for (const text of [ledger({ speaker: "eve" }), without("next_speaker")]) {
      expect(readLedger(text, ["ann"])).toMatchObject({ assessment: { speaker: "ann" } });
    }
  });
});

describe("the request for a ledger", () => {
  const info = { vision: false, functionCalling: false, jsonOutput: true, family: "unknown" };

  test("has a schema if the model can follow one", () => {
    const output = ledgerOutput({ ...info, structuredOutput: true }) as {
      name: string;
      schema: JsonObject;
    };
    expect(output.name).toBe("LedgerEntry");
    expect(output.schema.required).toEqual(ENTRIES);
  });

  test("asks for JSON, or else in words only", () => {
    expect(ledgerOutput(info)).toBe(true);
    expect(ledgerOutput({ ...info, structuredOutput: false })).toBe(true);
    expect(ledgerOutput({ ...info, jsonOutput: false })).toBeNull();
  });
});
