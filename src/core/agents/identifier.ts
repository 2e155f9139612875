import { ValueError } from "../errors.ts";

const IDENTIFIER = /^[\p{XIDS}_][\p{XIDC}]*$/u;

/** True for a Python identifier: letters of any script, digits and underscores. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/**
 * Property names of every JavaScript object: state and settings by name would reach these properties instead of an
 * entry.
 */
const RESERVED: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  "prototype",
]);

/** @throws ValueError naming `what` when it is not an identifier; AutoGen demands it of agents' names */
export function requireIdentifier(text: string, what: string): string {
  const reserved = RESERVED.has(text);
  if (isIdentifier(text) && !reserved) return text;
  const message = reserved
    ? "is reserved: give it another name"
    : "must be an identifier: letters, digits and underscores, not starting with a digit";
  throw new ValueError(`${what} "${text}" ${message}`, { issues: [{ path: "name", message }] });
}
