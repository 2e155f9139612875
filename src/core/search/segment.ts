/** Scripts whose words have no spaces between them. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Chinese characters that follow each other. */
const CHINESE = /\p{Script=Han}{2,}/gu;

let segmenter: Intl.Segmenter | undefined;

/**
 * A text with spaces between the words of languages that have none, such as Chinese, Japanese and Thai, so that a
 * tokenizer finds them. Where one word of Chinese characters ends depends on those beside it, so their pairs follow as words of
 * their own. Other texts are returned as they are. Contents and queries have to be split alike.
 */
export function segmentWords(text: string): string {
  if (!WITHOUT_SPACES.test(text)) return text;
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "word" });
  const words = Array.from(segmenter.segment(text), ({ segment }) => segment);
  const known = new Set(words);
  return [...words, ...pairs(text).filter((pair) => !known.has(pair))].join(" ");
}

function pairs(text: string): string[] {
  return (text.match(CHINESE) ?? []).flatMap((run) => {
    const characters = Array.from(run);
    return characters.slice(1).map((character, index) => (characters[index] ?? "") + character);
  });
}
