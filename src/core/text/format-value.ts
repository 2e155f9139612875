import { ValueError } from "../errors.ts";
import type { Json } from "../json.ts";
import { pythonRepr, pythonStr } from "./python.ts";

/** The part of a placeholder after the colon: `[[fill]align][sign][#][0][width][grouping][.precision][type]`. */
interface FormatSpec {
  fill: string;
  align: string;
  sign: string;
  alternate: boolean;
  width: number;
  grouping: string;
  precision: number | undefined;
  type: string;
}

const SPEC = /^(?:(.)?([<>=^]))?([+\- ])?(#)?(0)?(\d+)?([,_])?(?:\.(\d+))?([a-zA-Z%])?$/su;

/** A template must not be able to ask for megabytes of padding or digits. */
const LONGEST = 1000;

/**
 * Formats a value by a Python format specification: fill, alignment, width and precision of texts; for numbers also the
 * sign, `,`, and the types `d`, `f` and `%`. Another valid Python specification for a number has no effect, see {@link
 * isIgnored}.
 *
 * @throws ValueError when the specification is not one of Python's for such values
 */
export function formatValue(value: Json, text: string): string {
  if (text === "" || isNested(text)) return pythonStr(value);
  const spec = parseSpec(text);
  if (typeof value === "number") return formatNumber(value, spec);
  if (typeof value === "boolean") return formatNumber(value ? 1 : 0, spec);
  if (typeof value === "string") return formatText(value, spec, text);
  throw new ValueError(`${pythonRepr(value)} takes no format, got "${text}"; convert it with !s`);
}

/**
 * True if a specification is Python's and has no effect here.
 *
 * @param ofNumber whether the value is a number
 */
export function isIgnored(text: string, ofNumber: boolean): boolean {
  return isNested(text) || isIgnoredForNumbers(parseSpec(text), ofNumber);
}

/** A specification that contains other placeholders: `{name:>{width}}`. */
function isNested(text: string): boolean {
  return text.includes("{");
}

function isIgnoredForNumbers(spec: FormatSpec, ofNumber: boolean): boolean {
  return (
    spec.alternate ||
    spec.grouping === "_" ||
    (spec.grouping !== "" && isZeroPadded(spec)) ||
    /^[bcoxXeEgGn]$/.test(spec.type) ||
    (ofNumber && spec.type === "" && spec.precision !== undefined)
  );
}

function parseSpec(text: string): FormatSpec {
  const match = SPEC.exec(text);
  if (match === null) throw new ValueError(`"${text}" is not a format specification`);
  const [, fill, align, sign, alternate, zero, width, grouping, precision, type] = match;
  const spec: FormatSpec = {
    fill: fill ?? (zero && align === undefined ? "0" : " "),
    align: align ?? (zero ? "=" : ""),
    sign: sign ?? "",
    alternate: alternate !== undefined,
    width: Number(width ?? 0),
    grouping: grouping ?? "",
    precision: precision === undefined ? undefined : Number(precision),
    type: type ?? "",
  };
  if (spec.width > LONGEST || (spec.precision ?? 0) > LONGEST) {
    throw new ValueError(`the width and precision of "${text}" may be at most ${LONGEST}`);
  }
  return spec;
}

function isZeroPadded({ fill, align }: FormatSpec): boolean {
  return fill === "0" && align === "=";
}

function formatText(value: string, spec: FormatSpec, text: string): string {
  const zeros = /^0\d/.test(text);
  if (
    (spec.type !== "" && spec.type !== "s") ||
    spec.sign !== "" ||
    spec.grouping !== "" ||
    (spec.align === "=" && !zeros)
  ) {
    throw new ValueError(
      `"${text}" is not a format for text: use <, > or ^, a width and .precision`,
    );
  }
  const { precision } = spec;
  const visible = precision === undefined ? value : Array.from(value).slice(0, precision).join("");
  return pad(zeros ? { ...spec, align: "<" } : spec, "", visible, "<");
}

/** JSON does not distinguish `3` from `3.0`: whole numbers count as integers, which also accept `f`. */
function formatNumber(value: number, spec: FormatSpec): string {
  const { type, precision } = spec;
  if (!/^[bcdeEfFgGnoxX%]?$/.test(type)) {
    throw new ValueError(`"${type}" is not a format for numbers: use d, f or %`);
  }
  if (isIgnoredForNumbers(spec, true)) return pythonRepr(value);
  const sign = value < 0 || Object.is(value, -0) ? "-" : spec.sign === "-" ? "" : spec.sign;
  const digits = magnitude(Math.abs(value), type, precision);
  const grouped = spec.grouping === "" ? digits : digits.replace(/^\d+/, inThousands);
  return pad(spec, sign, grouped, ">");
}

/** Digits with a comma between each three, from the right. */
function inThousands(digits: string): string {
  const groups = [digits.slice(0, digits.length % 3)];
  for (let at = digits.length % 3; at < digits.length; at += 3)
    groups.push(digits.slice(at, at + 3));
  return groups.filter((group) => group !== "").join(",");
}

function magnitude(value: number, type: string, precision: number | undefined): string {
  if (type === "") return pythonRepr(value);
  if (type === "%") return `${fixed(value * 100, precision ?? 6)}%`;
  if (type !== "d") return fixed(value, precision ?? 6);
  if (precision !== undefined) throw new ValueError(`"d" takes no precision`);
  if (!Number.isInteger(value)) throw new ValueError(`"d" formats whole numbers, not ${value}`);
  return BigInt(value).toString();
}

/** Rounds halves to even, where `toFixed` rounds them up. */
function fixed(value: number, precision: number): string {
  let mantissa = value;
  let exponent = 0n;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent++;
  }
  const numerator = BigInt(mantissa) * 10n ** BigInt(precision);
  const denominator = 2n ** exponent;
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  const digits = String(up ? quotient + 1n : quotient).padStart(precision + 1, "0");
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

/** Fills `sign` and `body` up to the width; `=` puts the filling between the two. */
function pad(spec: FormatSpec, sign: string, body: string, usual: "<" | ">"): string {
  const missing = Math.max(0, spec.width - Array.from(sign + body).length);
  const align = spec.align || usual;
  const left = align === "<" ? 0 : align === "^" ? missing >> 1 : missing;
  const before = spec.fill.repeat(left);
  const after = spec.fill.repeat(missing - left);
  return align === "=" ? sign + before + body : before + sign + body + after;
}
