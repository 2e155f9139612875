import type { Json } from "../json.ts";

/**
 * A value as Python prints it inside a list or an object (`repr`): strings quoted, `None`, `True`, `False`. AutoGen
 * shows values so in texts that people and models read. Whole numbers print without a fraction, as JSON does.
 */
export function pythonRepr(value: Json): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return numberRepr(value);
  if (typeof value === "string") return stringRepr(value);
  if (Array.isArray(value)) return `[${value.map(pythonRepr).join(", ")}]`;
  const entries = Object.entries(value).map(
    ([key, item]) => `${stringRepr(key)}: ${pythonRepr(item)}`,
  );
  return `{${entries.join(", ")}}`;
}

/** A single value as Python prints it (`str`): a string unquoted, everything else as {@link pythonRepr}. */
export function pythonStr(value: Json): string {
  return typeof value === "string" ? value : pythonRepr(value);
}

/** An object of a data class as Python prints it: `FunctionCall(id='1', name='f')`. Keys keep their order. */
export function pythonDataClass(name: string, fields: { readonly [key: string]: Json }): string {
  const shown = Object.entries(fields).map(([key, value]) => `${key}=${pythonRepr(value)}`);
  return `${name}(${shown.join(", ")})`;
}

function stringRepr(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  let result = quote;
  for (const char of text) result += char === quote ? `\\${char}` : escaped(char);
  return result + quote;
}

const SHORT_ESCAPES: { readonly [char: string]: string } = {
  "\\": "\\\\",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

const UNPRINTABLE = /[\p{C}\p{Z}]/u;

function escaped(char: string): string {
  const short = SHORT_ESCAPES[char];
  if (short !== undefined) return short;
  if (char === " " || !UNPRINTABLE.test(char)) return char;
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  if (hex.length <= 4) return `\\u${hex.padStart(4, "0")}`;
  return `\\U${hex.padStart(8, "0")}`;
}

/** Python writes an exponent from 1e-5 downwards, and with at least two digits. */
function numberRepr(value: number): string {
  if (Number.isInteger(value) || Math.abs(value) >= 1e-4) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

/** True if a value is true in Python: all except null, false, 0 and empty values. */
export function pythonTruth(value: Json): boolean {
  const isContainer = typeof value === "object" && value !== null;
  return isContainer ? Object.keys(value).length > 0 : Boolean(value);
}
