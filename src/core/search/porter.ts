const C = "[^aeiou][^aeiouy]*";
const V = "[aeiouy][aeiou]*";
/** A `y` at the beginning is a consonant. */
const START = `^(?:${C}|(?=[aeiou]))`;

/** A stem's measure: how often a vowel is followed by a consonant. */
const SOME = new RegExp(`${START}${V}${C}`);
const ONE = new RegExp(`${START}${V}${C}(${V})?$`);
const MANY = new RegExp(`${START}${V}${C}${V}${C}`);
const HAS_VOWEL = new RegExp(`${START}[aeiouy]`);
/** Consonant, vowel, consonant at the end, the last none of `wxy`. */
const SHORT = new RegExp(`^${C}[aeiouy][^aeiouwxy]$`);
const DOUBLE = /([^aeioulsz])\1$/;

/** Endings and what stands in their place; a longer one stands before those it ends in. */
type Endings = readonly (readonly [string, string])[];

const STEP_2: Endings = pairs(
  "ational ate,tional tion,enci ence,anci ance,izer ize,logi log,bli ble,alli al,entli ent,eli e,ousli ous," +
    "ization ize,ation ate,ator ate,alism al,iveness ive,fulness ful,ousness ous,aliti al,iviti ive,biliti ble",
);
const STEP_3: Endings = pairs("icate ic,ative ,alize al,iciti ic,ical ic,ful ,ness ");
/** Of several that fit, the longest. */
const STEP_4 =
  /(al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|(?<=[st])ion|ou|ism|ate|iti|ous|ive|ize)$/;

/** The longest word that is taken apart, in bytes. */
const LONGEST = 64;

/**
 * The stem of an English word in lower case, by Porter's algorithm ("An algorithm for suffix stripping", 1980) with the
 * later changes that SQLite's tokenizer `porter` has: `prefers` and `preferred` become `prefer`.
 */
export function stem(word: string): string {
  return ASCII.test(word) ? stemOf(word) : fromBytes(stemOf(toBytes(word)));
}

const ASCII = /^[\0-\x7f]*$/;

/** SQLite takes the bytes of other letters for consonants; here each is a character. */
function toBytes(word: string): string {
  return Array.from(new TextEncoder().encode(word), (byte) => String.fromCharCode(byte)).join("");
}

function fromBytes(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)));
}

function stemOf(word: string): string {
  if (word.length < 3 || word.length > LONGEST) return word;
  let result = step1b(step1a(word));
  if (result.endsWith("y") && HAS_VOWEL.test(result.slice(0, -1))) {
    result = `${result.slice(0, -1)}i`;
  }
  result = replaceEnding(replaceEnding(result, STEP_2), STEP_3);
  const cut = result.replace(STEP_4, "");
  return step5(MANY.test(cut) ? cut : result);
}

/** Plurals. */
function step1a(word: string): string {
  if (/.(ss|i)es$/.test(word)) return word.slice(0, -2);
  return /[^s]s$/.test(word) ? word.slice(0, -1) : word;
}

/** Past and present participles. */
function step1b(word: string): string {
  if (/.eed$/.test(word)) return SOME.test(word.slice(0, -3)) ? word.slice(0, -1) : word;
  const cut = word.replace(/(ed|ing)$/, "");
  if (cut === word || !HAS_VOWEL.test(cut)) return word;
  if (/.(at|bl|iz)$/.test(cut)) return `${cut}e`;
  if (DOUBLE.test(cut)) return cut.slice(0, -1);
  return ONE.test(cut) && SHORT.test(cut) ? `${cut}e` : cut;
}

/** The last `e`, and one of two `l`. */
function step5(word: string): string {
  let result = word;
  if (result.endsWith("e")) {
    const cut = result.slice(0, -1);
    if (MANY.test(cut) || (ONE.test(cut) && !SHORT.test(cut))) result = cut;
  }
  return result.endsWith("ll") && MANY.test(result.slice(0, -1)) ? result.slice(0, -1) : result;
}

/** The first ending that fits decides, also when its stem is too short for it. */
function replaceEnding(word: string, endings: Endings): string {
  const found = endings.find(([ending]) => word.endsWith(ending));
  if (found === undefined) return word;
  const [ending, replacement] = found;
  const start = word.slice(0, word.length - ending.length);
  return SOME.test(start) ? start + replacement : word;
}

function pairs(list: string): Endings {
  return list.split(",").map((pair) => pair.split(" ") as [string, string]);
}
