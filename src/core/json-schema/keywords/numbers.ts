import type { Json } from "../../json.ts";
import type { Inspection } from "../inspection.ts";

export const numberKeywords = {
  minimum: limit((value, bound) => value >= bound, "at least"),
  maximum: limit((value, bound) => value <= bound, "at most"),
  exclusiveMinimum: limit((value, bound) => value > bound, "more than"),
  exclusiveMaximum: limit((value, bound) => value < bound, "less than"),
  multipleOf: limit(isMultiple, "a multiple of"),
};

function limit(holds: (value: number, bound: number) => boolean, words: string) {
  return (inspection: Inspection, bound: Json): void => {
    const { value } = inspection;
    if (typeof value !== "number" || typeof bound !== "number" || holds(value, bound)) return;
    inspection.fail(`must be ${words} ${bound}`);
  };
}

/** In decimals, because 0.3 is no multiple of 0.1 in binary. */
function isMultiple(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || !Number.isFinite(divisor) || divisor <= 0) return false;
  const [digits, exponent] = decimal(value);
  const [divisorDigits, divisorExponent] = decimal(divisor);
  const shift = exponent - divisorExponent;
  return shift >= 0
    ? (digits * 10n ** BigInt(shift)) % divisorDigits === 0n
    : digits % (divisorDigits * 10n ** BigInt(-shift)) === 0n;
}

function decimal(value: number): [digits: bigint, exponent: number] {
  const [coefficient = "", exponent = "0"] = String(Math.abs(value)).split("e");
  const [whole = "", fraction = ""] = coefficient.split(".");
  return [BigInt(whole + fraction), Number(exponent) - fraction.length];
}
