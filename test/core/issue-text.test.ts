import * as z from "zod";
import { expect, test } from "vitest";
import { issuesOf } from "#core/issues.ts";

/** The text of each issue code of zod, for values that newcomers give. */
const TEXTS: Record<z.core.$ZodIssue["code"], [what: string, z.ZodType, unknown, string][]> = {
  invalid_type: [
    ["missing", z.string(), undefined, "is missing; it must be a text"],
    ["another type", z.string(), 3, "must be a text, not a number"],
    ["null", z.object({}), null, "must be an object, not null"],
    ["a list", z.record(z.string(), z.string()), [], "must be an object, not a list"],
    ["no boolean", z.boolean(), "yes", "must be true or false, not a text"],
    ["a boolean", z.number(), true, "must be a number, not a boolean"],
    ["a fraction", z.int(), 1.5, "must be a whole number"],
    ["no number", z.number(), Number.NaN, "must be a number, not NaN"],
    ["nothing allowed", z.never(), 1, "must be left out, not a number"],
  ],
  invalid_value: [
    ["no such text", z.enum(["idle", "running"]), "x", 'must be "idle" or "running"'],
    ["no such value", z.literal([1, null, "a"]), "x", 'must be 1, null or "a"'],
    ["no such constant", z.literal("a"), undefined, 'must be "a"'],
  ],
  too_big: [
    ["a long text", z.string().max(3), "long", "must have at most 3 characters"],
    ["a long list", z.array(z.any()).max(1), [1, 2], "must have at most 1 item"],
    ["a large number", z.number().max(10_000), 20_000, "must be at most 10000"],
    ["the bound itself", z.number().lt(2), 2, "must be less than 2"],
    [
      "a late date",
      z.date().max(new Date(0)),
      new Date(1),
      "must be at most 1970-01-01T00:00:00.000Z",
    ],
    ["a large set", z.set(z.any()).max(1), new Set([1, 2]), "must have at most 1 item"],
    ["another length", z.string().length(2), "abc", "must have exactly 2 characters"],
  ],
  too_small: [
    ["an empty text", z.string().min(1), "", "must not be empty"],
    ["an empty list", z.array(z.any()).nonempty(), [], "must not be empty"],
    ["a short list", z.array(z.any()).min(2), [1], "must have at least 2 items"],
    ["a small number", z.number().min(0), -1, "must be at least 0"],
    ["nothing", z.number().positive(), 0, "must be more than 0"],
  ],
  invalid_format: [
    ["no address", z.email(), "x", "must be an email address"],
    ["no URL", z.url(), "x", "must be a URL, such as https://example.com"],
    [
      "no time",
      z.iso.datetime(),
      "x",
      "must be a time in ISO 8601 with its time zone, such as 2026-01-31T12:00:00Z",
    ],
    ["no match", z.string().regex(/^a+$/), "b", "must be a text that matches /^a+$/"],
    ["another start", z.string().startsWith("env:"), "b", 'must be a text that begins with "env:"'],
    ["another end", z.string().endsWith("."), "b", 'must be a text that ends with "."'],
    ["a part less", z.string().includes("@"), "b", 'must be a text with "@" in it'],
    ["a rare format", z.cuid2(), "-", "must be in the format cuid2"],
  ],
  not_multiple_of: [["another step", z.number().multipleOf(5), 7, "must be a multiple of 5"]],
  unrecognized_keys: [["an unknown key", z.strictObject({}), { a: 1 }, "is not a known field"]],
  invalid_union: [
    [
      "none of two",
      z.union([z.string(), z.array(z.string())]),
      3,
      "must be a text or a list, not a number",
    ],
    [
      "missing",
      z.union([z.string(), z.null()]),
      undefined,
      "is missing; it must be a text or null",
    ],
    ["no choice", z.union([z.literal("a"), z.number()]), true, 'must be "a" or a number'],
    [
      "an unknown kind",
      z.discriminatedUnion("type", [
        z.object({ type: z.literal("a") }),
        z.object({ type: z.literal("b") }),
      ]),
      { type: "c" },
      'must be "a" or "b"',
    ],
    [
      "two forms",
      z.union([z.object({ a: z.string() }), z.object({ b: z.int().min(1) })]),
      {},
      "fits none of the allowed forms: a: is missing; it must be a text; or b: is missing; it must be a number",
    ],
    ["both of two", z.xor([z.string(), z.any()]), "a", "fits more than one of the allowed forms"],
  ],
  invalid_key: [
    [
      "a wrong key",
      z.record(z.string().min(2), z.any()),
      { a: 1 },
      "is not an allowed key: it must have at least 2 characters",
    ],
  ],
  invalid_element: [
    [
      "a wrong entry",
      z.map(z.any(), z.string()),
      new Map([[{}, 1]]),
      "has an item [object Object] that must be a text, not a number",
    ],
  ],
  custom: [
    ["refused", z.string().refine(() => false), "a", "is not allowed"],
    [
      "refused with a reason",
      z.string().refine(() => false, "must be nicer"),
      "a",
      "must be nicer",
    ],
    ["a reason like zod's", z.string().refine(() => false, "Invalid rhyme"), "a", "Invalid rhyme"],
    ["a reason of a check", z.string().max(1, "must be a letter"), "ab", "must be a letter"],
  ],
};

const cases = Object.entries(TEXTS).flatMap(([code, all]) =>
  all.map(([what, schema, value, text]) => ({ code, what, schema, value, text })),
);

test.for(cases)("$code, $what: $text", ({ schema, value, text }) => {
  const { error } = z.object({ field: schema }).safeParse({ field: value });
  const texts = issuesOf(error!).map(({ message }) => message);
  expect(texts).toEqual([text]);
});

test("each code of zod has a text, and none keeps a text of zod", () => {
  for (const { code, schema, value } of cases) {
    const { error } = schema.safeParse(value);
    const codes = error!.issues.map((issue) => issue.code);
    if (code !== "custom") expect(codes).toEqual([code]);
    for (const { message } of issuesOf(error!))
      expect(message).not.toMatch(/Invalid (?!rhyme)|Too|expected/);
  }
});
