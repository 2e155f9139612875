/**
 * The beginning of a text, at most `length` UTF-16 units. A character of two units (an emoji, a rare Chinese sign) at the
 * end is left out as a whole: half of a character is not valid text, and model servers refuse requests with it.
 */
export function beginningOf(text: string, length: number): string {
  const most = Math.max(0, length);
  return text.slice(0, isInside(text, most) ? most - 1 : most);
}

/** The end of a text, at most `length` UTF-16 units; a character of two units at its beginning is left out as a whole. */
export function endOf(text: string, length: number): string {
  const start = Math.max(0, text.length - Math.max(0, length));
  return text.slice(isInside(text, start) ? start + 1 : start);
}

/** True if a position is between the two units of one character. */
function isInside(text: string, position: number): boolean {
  return (
    position > 0 &&
    position < text.length &&
    isHigh(text.charCodeAt(position - 1)) &&
    isLow(text.charCodeAt(position))
  );
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;
