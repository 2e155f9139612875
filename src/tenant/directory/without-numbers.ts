/** What takes the place of an id or a number. */
const LEFT_OUT = "…";

/** Words of letters, digits, underscores and hyphens that contain a digit. */
const WITH_DIGIT = /[\w-]*\d[\w-]*/g;

/** Longer words with several groups of digits are ids. */
const SHORTEST_ID = 8;
/** Longer words without a hyphen are ids, too. */
const SHORTEST_WORD_ID = 16;

/** A message without what differs between equal failures: ids and numbers. */
export function withoutNumbers(message: string): string {
  return message
    .replaceAll(WITH_DIGIT, (word) => (isId(word) ? LEFT_OUT : word.replaceAll(/\d+/g, LEFT_OUT)))
    .replaceAll(/…(?:[.,:+]?…)+/g, LEFT_OUT);
}

function isId(word: string): boolean {
  const numbers = word.match(/\d+/g)?.length ?? 0;
  if (word.length >= SHORTEST_ID && numbers > 1) return true;
  return word.length >= SHORTEST_WORD_ID && !word.includes("-");
}
