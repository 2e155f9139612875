import { foldNormalized } from "./fold.ts";
import type { Language } from "./languages.ts";

/** A word of a text. */
export interface Word {
  /** Without case and accents, with {@link keptSign} in the place of signs. */
  form: string;
  /** In lower case, with its accents; undefined where it has no ending: a name with signs. */
  stemmed?: string;
  /** It is a part of a longer word, which is a word of its own, too. */
  isPart: boolean;
}

/** Signs in words become characters for private use, which SQLite's tokenizer takes for letters. */
const SIGNS = 0xe000;

/** Characters that mean something of their own in tokens. */
const RESERVED = /[\ue000-\ue0ff\uf8f0-\uf8ff]/g;

const LETTERS = String.raw`[\p{L}\p{N}\p{M}\p{Co}]`;

/** Signs between letters without spaces. */
const JOINT = String.raw`[-‐_./:@+#&]`;

/** A name: letters with signs between them, and the signs that begin it (`.NET`, `#topic`, `@ada`) or end it (`C++`, `F#`). */
const NAME = new RegExp(
  String.raw`(?<![\p{L}\p{N}\p{M}\p{Co}])[.#@](?=\p{L})${LETTERS}+(?:${JOINT}{1,2}${LETTERS}+)*(?:\+{1,2}|#)?|${LETTERS}+(?:${JOINT}{1,3}${LETTERS}+)*(?:(?:\+{1,2}|#)(?!${LETTERS}))?|${LETTERS}+`,
  "gu",
);

const PART = new RegExp(`${LETTERS}+`, "gu");
const IS_PLAIN = new RegExp(`^${LETTERS}+$`, "u");

/** Longer names are addresses and paths, which are looked for by their parts. */
const MOST_PARTS = 6;
const LONGEST_NAME = 64;

const DIGIT = /\p{N}$/u;
const FIRST_DIGIT = /^\p{N}/u;

/** `retryAfter`, `HTTPServer` */
const HUMPS = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}{2}/u;
const HUMP = /\p{Lu}{1,64}(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu;
/** `AB4711` */
const NUMBERED = /^(\p{L}{1,6})(\p{N}{2,12})$/u;

/** Endings after which another word begins in a compound. */
const SEAMS: Partial<Record<Language, RegExp>> = {
  de: /(?<=\p{L}{3}(?:ung|heit|keit|schaft|tät|ion|ling|tum))s(?=\p{L}{4})/gu,
  nl: /(?<=\p{L}{3}(?:ing|heid|teit))s(?=\p{L}{4})/gu,
  sv: /(?<=\p{L}{3}(?:ning|het|skap|ion|tet|dom))s(?=\p{L}{4})/gu,
  da: /(?<=\p{L}{3}(?:ning|hed|skab|ion|tet|else|dom))s(?=\p{L}{4})/gu,
  no: /(?<=\p{L}{3}(?:ning|het|skap|ion|tet|else|dom))s(?=\p{L}{4})/gu,
};
const SHORTEST_COMPOUND = 12;

/** The words of a normalized text, in its order, the parts of a name after it. */
export function* wordsOf(text: string, language: Language): Generator<Word> {
  for (const [name] of text.replace(RESERVED, " ").matchAll(NAME)) {
    if (IS_PLAIN.test(name)) yield* plainWords(name, language);
    else yield* nameWords(name, language);
  }
}

function* nameWords(name: string, language: Language): Generator<Word> {
  const parts = name.match(PART) ?? [];
  if (parts.length <= MOST_PARTS && name.length <= LONGEST_NAME) {
    yield { form: foldNormalized(joined(name)), isPart: false };
  }
  // In "C++" and ".NET" the letters alone are something else.
  const isPart = parts.length === 1;
  for (const part of parts) {
    for (const found of plainWords(part, language)) {
      yield { ...found, isPart: isPart || found.isPart };
    }
  }
}

/** `AB-4711` is written `AB4711`, too, and `node.js` as `nodejs`; `3.5` is not 35, nor is `A/B` AB. */
function joined(name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}\p{M}\p{Co}]/gu, (sign, at: number) => {
    const isInside = at > 0 && at < name.length - 1;
    if (isInside && (sign === "-" || sign === "‐" || sign === "_")) return "";
    const isNumber = DIGIT.test(name.slice(0, at)) && FIRST_DIGIT.test(name.slice(at + 1));
    if (isInside && sign === "." && !isNumber) return "";
    return String.fromCharCode(SIGNS + sign.charCodeAt(0));
  });
}

function* plainWords(run: string, language: Language): Generator<Word> {
  const segments = segmentsOf(run);
  if (segments !== undefined) {
    for (const segment of segments) yield wordOf(segment);
    return;
  }
  const whole = wordOf(run);
  yield whole;
  for (const part of partsOf(run, whole, language)) yield { ...wordOf(part), isPart: true };
}

function partsOf(run: string, { stemmed = "" }: Word, language: Language): string[] {
  const numbered = NUMBERED.exec(run);
  if (numbered !== null) return numbered.slice(1);
  if (HUMPS.test(run)) return (run.match(HUMP) ?? []).filter((part) => part.length > 1);
  const seams = stemmed.length < SHORTEST_COMPOUND ? undefined : SEAMS[language];
  const parts = seams === undefined ? [] : stemmed.split(seams);
  return parts.length > 1 ? parts : [];
}

function wordOf(text: string): Word {
  return {
    form: foldNormalized(text),
    stemmed: text.toLowerCase().replaceAll("ё", "е"),
    isPart: false,
  };
}

/** Scripts whose words have no spaces between them. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Chinese characters that follow each other. */
const CHINESE = /\p{Script=Han}{2,}/gu;

const HAS_LETTER = /[\p{L}\p{N}]/u;

let segmenter: Intl.Segmenter | undefined;

/**
 * The words of a run of letters in a language without spaces, such as Chinese, Japanese and Thai; undefined for other runs. Where
 * one word of Chinese characters ends depends on those beside it, so their pairs follow as words of their own.
 */
function segmentsOf(run: string): string[] | undefined {
  if (!WITHOUT_SPACES.test(run)) return undefined;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words = Array.from(segmenter.segment(run), ({ segment }) => segment).filter((word) =>
    HAS_LETTER.test(word),
  );
  const known = new Set(words);
  return [...words, ...pairs(run).filter((pair) => !known.has(pair))];
}

function pairs(text: string): string[] {
  return (text.match(CHINESE) ?? []).flatMap((run) => {
    const characters = Array.from(run);
    return characters.slice(1).map((character, index) => (characters[index] ?? "") + character);
  });
}
