import { isExactNumber, type Json, sortedJson } from "../../json.ts";
import { beginningOf } from "../../cut.ts";
import type { Inspection } from "./inspection.ts";

const MAX_LISTED = 300;

export const valueKeywords = {
  type(inspection: Inspection, argument: Json): void {
    const expected = Array.isArray(argument) ? argument : [argument];
    if (expected.some((type) => isOfType(inspection.value, type)) || isNullable(inspection)) return;
    inspection.add({
      keys: inspection.place.keys(),
      message: `expected ${expected.map(String).join(" or ")}, got ${typeOf(inspection.value)}`,
      otherType: true,
    });
  },

  const(inspection: Inspection, argument: Json): void {
    const { place, validation } = inspection;
    if (place.canonical(validation.limit) === sortedJson(argument)) return;
    inspection.fail(`must be ${listed([argument])}`);
  },

  enum(inspection: Inspection, argument: Json): void {
    if (!Array.isArray(argument)) return;
    const { value, place, validation } = inspection;
    validation.limit.spend(argument.length);
    if (argument.includes(value) || isNullable(inspection)) return;
    if (typeof value === "object" && value !== null) {
      const canonical = place.canonical(validation.limit);
      const same = (choice: Json): boolean => {
        if (typeof choice !== "object" || choice === null) return false;
        const text = sortedJson(choice);
        validation.limit.spend(text.length >> 3);
        return text === canonical;
      };
      if (argument.some(same)) return;
    }
    inspection.fail(`must be one of ${listed(argument)}`);
  },
};

function listed(values: readonly Json[]): string {
  const text = values.map((value) => JSON.stringify(value)).join(", ");
  return text.length > MAX_LISTED ? `${beginningOf(text, MAX_LISTED)}...` : text;
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (isExactNumber(value)) return "number";
  return Array.isArray(value) ? "array" : typeof value;
}

/** OpenAPI's `nullable`, which servers of tools write and makers are sent as the type null. */
function isNullable({ value, schema }: Inspection): boolean {
  return value === null && schema["nullable"] === true;
}

function isOfType(value: Json, type: Json): boolean {
  if (type !== "integer") return typeOf(value) === type;
  return isExactNumber(value) ? /^-?\d+$/.test(value.rawJSON) : Number.isInteger(value);
}

export const numberKeywords = {
  minimum: limit((value, bound) => value >= bound, "at least"),
  maximum: limit((value, bound) => value <= bound, "at most"),
  exclusiveMinimum: limit((value, bound) => value > bound, "more than"),
  exclusiveMaximum: limit((value, bound) => value < bound, "less than"),
  multipleOf: limit(isMultiple, "a multiple of"),
};

function limit(holds: (value: number, bound: number) => boolean, words: string) {
  return (inspection: Inspection, bound: Json): void => {
    const { value: given } = inspection;
    // Near enough to compare it: bounds are JavaScript's numbers.
    const value = isExactNumber(given) ? Number(given.rawJSON) : given;
    if (typeof value !== "number" || typeof bound !== "number" || holds(value, bound)) return;
    inspection.fail(`must be ${words} ${bound}`);
  };
}

/** Computed in decimals, because 0.3 is not a multiple of 0.1 in binary. */
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
