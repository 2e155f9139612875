import { describe, expect, test } from "vitest";
import { ValueError } from "troupe";
import { formatNotes } from "#core/text/check-format.ts";
import { formatPython } from "#core/text/format.ts";

const values = {
  whole: 3,
  minus: -7,
  real: 2.5,
  eighth: 0.125,
  large: 1234567.891,
  text: "abc",
  wide: "é😀",
  quoted: "it's",
  yes: true,
  none: null,
  list: ["a", 1, null],
  object: { k: "v", q: 1.5 },
  width: 8,
};

describe("placeholders", () => {
  test.each([
    ["{text} {whole} {real} {yes} {none}", "abc 3 2.5 True None"],
    ["{list} {object}", "['a', 1, None] {'k': 'v', 'q': 1.5}"],
    ["{{{text}}} {{}}", "{abc} {}"],
    ["{list[0]} {object[k]}", "a v"],
    ["{text!r} {quoted!r} {none!s:>6}", `'abc' "it's"   None`],
    ["no placeholder at all", "no placeholder at all"],
    ["", ""],
  ])("%s", (template, filled) => {
    expect(formatPython(template, values)).toBe(filled);
  });

  test("are not looked for in inserted text", () => {
    expect(formatPython("{a}", { a: "{b} }{" })).toBe("{b} }{");
  });
});

describe("specifications print like Python", () => {
  test.each([
    [
      "{text:>6}|{text:<6}|{text:^6}|{text:*^7}|{text:6}|{text:.2}|{text:05}",
      "   abc|abc   | abc  |**abc**|abc   |ab|abc00",
    ],
    ["{wide:>4}|", "  é😀|"],
    ["{whole:.1f} {minus:+.1f} {real:.0f} {eighth:.2f}", "3.0 -7.0 2 0.12"],
    [
      "{large:,.2f} {large:,} {large:,.0%} {large:>16,.1f}|",
      "1,234,567.89 1,234,567.891 123,456,789%      1,234,567.9|",
    ],
    ["{eighth:%} {eighth:.0%}", "12.500000% 12%"],
    ["{whole:05d} {minus:=+6d} {minus:*=6} {whole:+} {whole: d}", "00003 -    7 -****7 +3  3"],
    ["{yes:d} {yes:.1f}", "1 1.0"],
  ])("%s", (template, filled) => {
    expect(formatPython(template, values)).toBe(filled);
  });
});

test.each([
  ["{large:e} {large:.3g} {large:G} {large:.3}", "1234567.891 1234567.891 1234567.891 1234567.891"],
  ["{whole:x} {width:#b} {width:#010x} {minus:o} {whole:n} {whole:c}", "3 8 8 -7 3 3"],
  ["{large:_.0f} {large:015,.1f}", "1234567.891 1234567.891"],
  ["{text:>{width}}| {whole:{width}}|", "abc| 3|"],
])("the specification %s is Python's, but has no effect here", (template, filled) => {
  expect(formatPython(template, values)).toBe(filled);
  const noted = formatNotes("config", { template }, ([key]) => key !== "text");
  const [first = ""] = template.split(" ");
  expect(noted.map(({ path, message }) => `${path}: ${message}`)).toContain(
    `config.template: "${first.replace("|", "")}" is shown without its format: numbers take [[fill]align][sign][0][width][,][.precision] with f, d or %, texts [[fill]align][width][.precision]`,
  );
  expect(noted).toHaveLength(template.split(" ").length);
});

test("formats that have an effect get no notes", () => {
  const templates = { good: "{text:*^7} {text:.2} {whole:.1f} {whole}", none: null };
  expect(formatNotes("config", templates, ([key]) => key === "whole")).toEqual([]);
});

describe("an invalid format is refused", () => {
  test.each([
    ["{", "never closed"],
    ["a } b", 'single "}"'],
    ["{}", "not a placeholder"],
    ["{nope}", 'there is no "nope", only {whole}'],
    ["{text.length}", 'there is no "text.length"'],
    ["{constructor}", 'there is no "constructor"'],
    ["{object[__proto__]}", 'there is no "__proto__"'],
    ["{list[9]}", "3 items"],
    ["{list[length]}", "cannot be looked up"],
    ["{text[0]}", "cannot be looked up"],
    ["{text!x}", "not a conversion"],
    ["{text:d}", "not a format for text"],
    ["{real:d}", "whole numbers"],
    ["{whole:.1d}", "no precision"],
    ["{whole:y}", "not a format for numbers"],
    ["{none:>5}", "takes no format"],
    ["{whole:1.1.1}", "not a format specification"],
    ["{whole:99999999}", "at most 1000"],
  ])("%s", (template, reason) => {
    expect(() => formatPython(template, values)).toThrow(ValueError);
    expect(() => formatPython(template, values)).toThrow(reason);
  });
});
