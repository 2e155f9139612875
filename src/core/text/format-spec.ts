import { ValueError } from "../errors.ts";

/** The part of a placeholder after the colon: `[[fill]align][sign][#][0][width][grouping][.precision][type]`. */
export interface FormatSpec {
  fill: string;
  align: "<" | ">" | "^" | "=" | "";
  sign: "+" | "-" | " " | "";
  alternate: boolean;
  width: number;
  grouping: "," | "_" | "";
  precision: number | undefined;
  type: string;
}

const SPEC = /^(?:(.)?([<>=^]))?([+\- ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

/** A template must not be able to ask for megabytes of padding or digits. */
const LONGEST = 1000;

/** @throws ValueError when it is not one of Python's format specifications */
export function parseFormatSpec(text: string): FormatSpec {
  const match = SPEC.exec(text);
  if (match === null) throw new ValueError(`"${text}" is not a format specification`);
  const [, fill, align, sign, alternate, zero, width, grouping, precision, type] = match;
  const spec: FormatSpec = {
    fill: fill ?? (zero && align === undefined ? "0" : " "),
    align: (align ?? (zero ? "=" : "")) as FormatSpec["align"],
    sign: (sign ?? "") as FormatSpec["sign"],
    alternate: alternate !== undefined,
    width: Number(width ?? 0),
    grouping: (grouping ?? "") as FormatSpec["grouping"],
    precision: precision === undefined ? undefined : Number(precision),
    type: type ?? "",
  };
  if (spec.width > LONGEST || (spec.precision ?? 0) > LONGEST) {
    throw new ValueError(`the width and precision of "${text}" may be at most ${LONGEST}`);
  }
  return spec;
}

/** Fills `sign` and `body` up to the width; `=` puts the filling between the two. */
export function pad(spec: FormatSpec, sign: string, body: string, defaultAlign: "<" | ">"): string {
  const missing = spec.width - Array.from(sign + body).length;
  if (missing <= 0) return sign + body;
  const filling = (count: number): string => spec.fill.repeat(count);
  switch (spec.align || defaultAlign) {
    case "<":
      return sign + body + filling(missing);
    case ">":
      return filling(missing) + sign + body;
    case "^":
      return filling(missing >> 1) + sign + body + filling(missing - (missing >> 1));
    default:
      return sign + filling(missing) + body;
  }
}
