/** The sign at the end of a text that was cut. */
const CUT = "…";

/**
 * Escapes a text, and cuts it where its escaped form would be longer: neither an escape nor a character of two units is cut.
 *
 * @param most UTF-16 units of the escaped text
 */
export function escapedWithin(
  text: string,
  most: number,
  escape: (character: string) => string,
): string {
  // The escaped text is at least as long, so that no more of it is looked at.
  const whole =
    text.length <= most ? Array.from(text, (character) => escape(character)).join("") : undefined;
  if (whole !== undefined && whole.length <= most) return whole;
  let cut = "";
  for (const character of text.slice(0, most)) {
    const next = escape(character);
    if (cut.length + next.length + CUT.length > most) break;
    cut += next;
  }
  return most < CUT.length ? "" : cut + CUT;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** The three characters that Slack's mrkdwn and Telegram's HTML reserve. A lone half of a character is none. */
export function entityOf(character: string): string {
  if (/^[\uD800-\uDFFF]$/.test(character)) return "\uFFFD";
  return ENTITIES[character] ?? character;
}

/** One line: without control characters and line breaks. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
}
