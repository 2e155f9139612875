import { ValueError } from "../errors.ts";

const IDENTIFIER = /^[\p{XIDS}_][\p{XIDC}]*$/u;

/** Whether a text is a Python identifier: letters of any script, digits and underscores. */
export function isIdentifier(text: string): boolean {
  return IDENTIFIER.test(text);
}

/** @throws ValueError naming `what` when it is not an identifier; AutoGen demands it of agents' names */
export function requireIdentifier(text: string, what: string): string {
  if (isIdentifier(text)) return text;
  const message =
    "must be an identifier: letters, digits and underscores, not starting with a digit";
  throw new ValueError(`${what} "${text}" ${message}`, { issues: [{ path: "name", message }] });
}
