const ERROR = "Error: ";

/** Texts of Python's schema library name its pages or count its errors. */
const SCHEMA_LIBRARY = /errors\.pydantic\.dev|\d+ validation errors? for /;

/** What a team failed with is shown with the place in Python where it happened. */
const TRACEBACK = /^\w+: [\s\S]*\nTraceback:\nTraceback \(most recent call last\):/;

/**
 * Whether two texts say the same. Python's words for an error are not ours: such a text is compared up to and
 * including the first `Error: `, one that quotes Python's schema library or its call stack not at all.
 */
export function sameText(expected: string, actual: string): boolean {
  if (expected === actual) return true;
  if (TRACEBACK.test(expected)) return true;
  const error = expected.indexOf(ERROR);
  const quoted = expected.search(SCHEMA_LIBRARY);
  if (error >= 0 && (quoted < 0 || error < quoted)) {
    const end = error + ERROR.length;
    return actual.slice(0, end) === expected.slice(0, end);
  }
  return quoted >= 0;
}

/**
 * Deviation `numbers`: AutoGen prints a number of structured content with a fraction always (`3.0`), Troupe as JSON
 * does (`3`). Nothing else may differ.
 */
export function differsInFractions(expected: string, actual: string): boolean {
  if (expected === actual) return false;
  const [first = "", ...parts] = expected.split(FRACTION);
  if (!actual.startsWith(first)) return false;
  let rest = actual.slice(first.length);
  for (const part of parts) {
    if (rest.startsWith(`.0${part}`)) rest = rest.slice(2);
    if (!rest.startsWith(part)) return false;
    rest = rest.slice(part.length);
  }
  return rest === "";
}

/** `.0` at the end of a number. */
const FRACTION = /(?<=(?<![\w.])-?\d+)\.0(?!\d|\.\d)/;
