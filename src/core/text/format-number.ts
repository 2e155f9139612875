import { ValueError } from "../errors.ts";
import { type FormatSpec, pad } from "./format-spec.ts";
import { pythonRepr } from "./python.ts";

/**
 * A number in Python's format specification. JSON does not tell `3` from `3.0`: whole numbers are taken as integers,
 * which also accept every specification for floats.
 *
 * @throws ValueError when the specification is not one for numbers
 */
export function formatNumber(value: number, spec: FormatSpec): string {
  const sign = value < 0 || Object.is(value, -0) ? "-" : spec.sign === "-" ? "" : spec.sign;
  const [prefix, digits] = magnitude(Math.abs(value), spec);
  const grouped =
    spec.fill === "0" && spec.align === "="
      ? zeroPadded(sign + prefix, digits, spec)
      : group(digits, spec);
  return pad(spec, sign + prefix, grouped, ">");
}

const RADIX: { readonly [type: string]: { radix: number; prefix: string } } = {
  b: { radix: 2, prefix: "0b" },
  o: { radix: 8, prefix: "0o" },
  x: { radix: 16, prefix: "0x" },
  X: { radix: 16, prefix: "0X" },
};

function magnitude(value: number, spec: FormatSpec): [prefix: string, digits: string] {
  const { type, precision } = spec.type === "n" ? localeFree(value, spec) : spec;
  const radix = RADIX[type];
  if (radix !== undefined || type === "d" || type === "c") {
    if (!Number.isInteger(value))
      throw new ValueError(`"${type}" formats whole numbers, not ${value}`);
    if (precision !== undefined) throw new ValueError(`"${type}" takes no precision`);
    if (type === "c") return ["", codePoint(value)];
    if (radix === undefined) return ["", BigInt(value).toString()];
    const digits = BigInt(value).toString(radix.radix);
    return [spec.alternate ? radix.prefix : "", type === "X" ? digits.toUpperCase() : digits];
  }
  switch (type) {
    case "f":
    case "F":
      return ["", fixed(value, precision ?? 6)];
    case "e":
      return ["", exponential(value, precision ?? 6)];
    case "E":
      return ["", exponential(value, precision ?? 6).toUpperCase()];
    case "g":
      return ["", general(value, precision ?? 6, spec.alternate)];
    case "G":
      return ["", general(value, precision ?? 6, spec.alternate).toUpperCase()];
    case "%":
      return ["", `${fixed(value * 100, precision ?? 6)}%`];
    case "":
      return [
        "",
        precision === undefined ? pythonRepr(value) : general(value, precision, spec.alternate),
      ];
    default:
      throw new ValueError(
        `"${type}" is not a format for numbers: use one of b c d e E f F g G n o x X %`,
      );
  }
}

/** `n` follows the locale in Python; without one it is `d` or `g`. */
function localeFree(value: number, spec: FormatSpec): FormatSpec {
  return { ...spec, type: Number.isInteger(value) && spec.precision === undefined ? "d" : "g" };
}

function codePoint(value: number): string {
  if (value > 0x10ffff) throw new ValueError(`${value} is not a character`);
  return String.fromCodePoint(value);
}

/** `value * 10^power` rounded to a whole number, halves to even: exact, where `toFixed` rounds halves up. */
function scaled(value: number, power: number): bigint {
  let mantissa = value;
  let exponent = 0;
  while (!Number.isInteger(mantissa)) {
    mantissa *= 2;
    exponent++;
  }
  const numerator = BigInt(mantissa) * 10n ** BigInt(Math.max(0, power));
  const denominator = 2n ** BigInt(exponent) * 10n ** BigInt(Math.max(0, -power));
  const quotient = numerator / denominator;
  const twice = (numerator % denominator) * 2n;
  const up = twice > denominator || (twice === denominator && quotient % 2n === 1n);
  return up ? quotient + 1n : quotient;
}

function fixed(value: number, precision: number): string {
  const digits = scaled(value, precision)
    .toString()
    .padStart(precision + 1, "0");
  return precision === 0 ? digits : `${digits.slice(0, -precision)}.${digits.slice(-precision)}`;
}

function decimalExponent(value: number): number {
  return value === 0 ? 0 : Number(value.toExponential().split("e")[1]);
}

/** The digits of `d.ddd` and the exponent, rounding carried over. */
function scientific(value: number, precision: number): [digits: string, exponent: number] {
  const exponent = decimalExponent(value);
  const digits = scaled(value, precision - exponent)
    .toString()
    .padStart(precision + 1, "0");
  return digits.length > precision + 1 ? [digits.slice(0, -1), exponent + 1] : [digits, exponent];
}

function exponential(value: number, precision: number): string {
  const [digits, exponent] = scientific(value, precision);
  return writeScientific(digits, exponent);
}

function writeScientific(digits: string, exponent: number): string {
  const fraction = digits.length > 1 ? `.${digits.slice(1)}` : "";
  const power = String(Math.abs(exponent)).padStart(2, "0");
  return `${digits.slice(0, 1)}${fraction}e${exponent < 0 ? "-" : "+"}${power}`;
}

function general(value: number, requested: number, keepZeros: boolean): string {
  const precision = Math.max(1, requested);
  const [digits, exponent] = scientific(value, precision - 1);
  if (exponent < -4 || exponent >= precision) {
    return writeScientific(keepZeros ? digits : digits.replace(/(?<=.)0+$/, ""), exponent);
  }
  const text = fixed(value, precision - 1 - exponent);
  return keepZeros || !text.includes(".") ? text : text.replace(/\.?0+$/, "");
}

function group(digits: string, spec: FormatSpec): string {
  if (spec.grouping === "") return digits;
  const size = spec.type in RADIX ? 4 : 3;
  const whole = /^[\da-fA-F]*/.exec(digits)?.[0] ?? "";
  const pattern = new RegExp(`\\B(?=(?:[\\da-fA-F]{${size}})+$)`, "g");
  return whole.replace(pattern, spec.grouping) + digits.slice(whole.length);
}

/** With zeros as filling, Python groups the zeros, too. */
function zeroPadded(sign: string, digits: string, spec: FormatSpec): string {
  let padded = group(digits, spec);
  let wider = digits;
  while (sign.length + padded.length < spec.width) {
    wider = `0${wider}`;
    padded = group(wider, spec);
  }
  return padded;
}
