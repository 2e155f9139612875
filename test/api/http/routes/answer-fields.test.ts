import { describe, expect, test } from "vitest";
import { answerFields, answerOf } from "#api/http/routes/answer-fields.ts";
import type { AskedRequest } from "#contract/run.ts";

/** A question with the fields of a form, as servers of tools ask it. */
const question = {
  id: "r",
  kind: "input",
  source: "clerk",
  prompt: "Which table?",
  form: {
    message: "Which table?",
    cancel: true,
    schema: {
      type: "object",
      properties: {
        table: { type: "string", enum: ["a", "b"], enumNames: ["By the <window>", "Inside"] },
        seats: { type: "integer", title: "Seats", default: 2 },
        extras: { type: "array", items: { anyOf: [{ const: "dog", title: "A dog" }] } },
        smoking: { type: "boolean" },
        note: { type: "string" },
      },
      required: ["table"],
    },
  },
} as unknown as AskedRequest;

function sent(...entries: [string, string][]): FormData {
  const form = new FormData();
  for (const [name, value] of entries) form.append(name, value);
  return form;
}

describe("the fields of a page that answers", () => {
  test("show the choices of a question with their names, and escape them", () => {
    const html = answerFields(question);
    expect(html).toContain("By the &#60;window&#62;");
    expect(html).toContain('type="number" step="any" name="field.seats" value="2"');
    expect(html).toContain('type="checkbox" name="field.extras"');
    expect(html).toContain('value="cancel" formnovalidate');
  });

  test("give the answer with the types of the question", () => {
    const form = sent(
      ["action", "send"],
      ["field.table", '"b"'],
      ["field.seats", "4"],
      ["field.extras", '"dog"'],
      ["field.smoking", "false"],
      ["field.note", ""],
      ["field.other", "ignored"],
    );
    const answer = answerOf(question, form) as { content: string };
    expect(JSON.parse(answer.content)).toEqual({
      table: "b",
      seats: 4,
      extras: ["dog"],
      smoking: false,
    });
  });

  test.for([
    [[["action", "send"]], 'The field "table" is missing.'],
    [[["field.table", '"c"']], 'The field "table" has another form than is asked for.'],
    [
      [
        ["field.table", '"a"'],
        ["field.seats", "many"],
      ],
      'The field "seats" has another form than is asked for.',
    ],
  ] as [[string, string][], string][])("refuse %j with a sentence", ([entries, sentence]) => {
    expect(answerOf(question, sent(...entries))).toBe(sentence);
  });

  test.for(["decline", "cancel"])("take %s without the fields that are required", (action) => {
    expect(answerOf(question, sent(["action", action]))).toEqual({ content: action });
  });
});
