// A value of an argument that the task of a run does not contain was made up by the model or found elsewhere, so a human should look at
// it first.

/** A numeral, with separators of groups or decimals inside. */
const NUMERAL = /(?<![\p{L}\p{N}])[-−]?\d+(?:[.,'’\u00A0\u202F ]\d+)*/gu;

/**
 * True if a text, number or boolean occurs in the task: a text as whole words, without regard to case and white space, and a number as
 * a numeral of the same value, with a point or a comma for its decimals. Booleans, null and empty texts are never looked for.
 */
export function isStated(value: unknown, task: string): boolean {
  if (typeof value === "number") return numbersIn(task).has(Math.abs(value));
  if (typeof value !== "string") return true;
  const text = plain(value);
  if (text === "") return true;
  if (/^-?\d+(\.\d+)?$/.test(text) && numbersIn(task).has(Math.abs(Number(text)))) return true;
  const around = plain(task);
  for (let at = around.indexOf(text); at !== -1; at = around.indexOf(text, at + 1)) {
    if (isEdge(around, at) && isEdge(around, at + text.length)) return true;
  }
  return false;
}

function plain(text: string): string {
  return text.normalize("NFKC").toLowerCase().replaceAll(/\s+/g, " ").trim();
}

/** True unless a word continues across the place. */
function isEdge(text: string, at: number): boolean {
  const inWord = (letter: string | undefined): boolean =>
    letter !== undefined && /[\p{L}\p{N}]/u.test(letter);
  return !(inWord(text[at - 1]) && inWord(text[at]));
}

/** The values that the numerals of a text can have. */
function numbersIn(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [numeral] of text.normalize("NFKC").matchAll(NUMERAL)) {
    const digits = numeral.replaceAll(/[-−'’\s]/g, "");
    const last = Math.max(digits.lastIndexOf("."), digits.lastIndexOf(","));
    const whole = digits.replaceAll(/[.,]/g, "");
    found.add(Number(whole));
    // One numeral may be several numbers: a list, or a date.
    for (const part of numeral.match(/\d+/g) ?? []) found.add(Number(part));
    if (last === -1) continue;
    const decimals = digits.slice(last + 1);
    found.add(Number(`${digits.slice(0, last).replaceAll(/[.,]/g, "")}.${decimals}`));
  }
  return found;
}
