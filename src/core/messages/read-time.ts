/** A date alone, or with a time as Python, pydantic and databases write it. */
const WRITTEN =
  /^(\d{4}-\d\d-\d\d)(?:[Tt _](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?: ?(?:([Zz])|([+\u2212-])(\d\d)(?::?(\d\d))?))?)?$/;

/** A number, which may also be written as a text. */
const NUMBER = /^[+-]?\d+(?:\.\d*)?$/;

/** As in pydantic, numbers beyond it are milliseconds, others seconds. */
const MOST_SECONDS = 2e10;

/**
 * Reads a time in each form that pydantic, and so AutoGen, reads. A text that is ISO 8601 with seconds keeps its offset, or
 * none.
 *
 * @returns the time as ISO 8601; undefined for anything else
 */
export function readTime(value: unknown): string | undefined {
  if (typeof value === "number") return ofNumber(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return NUMBER.test(text) ? ofNumber(Number(text)) : ofText(text);
}

function ofText(text: string): string | undefined {
  const match = WRITTEN.exec(text);
  if (match === null) return undefined;
  const [, date = "", hours = "00", minutes = "00", seconds = "00", fraction, utc, sign] = match;
  const [offsetHours = "00", offsetMinutes = "00"] = match.slice(8);
  const day = new Date(`${date}T00:00:00Z`);
  // JavaScript takes 31 April for 1 May.
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(date)) return undefined;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return undefined;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const part = fraction === undefined ? "" : `.${fraction.slice(0, 6)}`;
  const offset = sign && `${sign === "+" ? "+" : "-"}${offsetHours}:${offsetMinutes}`;
  return `${date}T${hours}:${minutes}:${seconds}${part}${utc ? "Z" : (offset ?? "")}`;
}

function ofNumber(value: number): string | undefined {
  const seconds = Math.abs(value) > MOST_SECONDS ? value / 1000 : value;
  const whole = Math.floor(seconds);
  const micros = Math.round((seconds - whole) * 1e6);
  const date = new Date((whole + Math.floor(micros / 1e6)) * 1000);
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999 || date.getUTCFullYear() < 0) {
    return undefined;
  }
  const part = micros % 1e6 === 0 ? "" : `.${String(micros % 1e6).padStart(6, "0")}`;
  return `${date.toISOString().slice(0, 19)}${part}Z`;
}
