/**
 * Those of `names` that a model's reply mentions, as whole words and in the same letter case. For an underscore it may
 * write a blank, or put a backslash before it.
 */
export function mentionedNames(reply: string, names: readonly string[]): string[] {
  return names.filter((name) => mentionPattern(name).test(reply));
}

function mentionPattern(name: string): RegExp {
  const spellings = [name, name.replaceAll("_", " "), name.replaceAll("_", "\\_")];
  const alternatives = spellings.map((spelling) => spelling.replace(SYNTAX, "\\$&")).join("|");
  return new RegExp(`(?<!${WORD})(?:${alternatives})(?!${WORD})`, "u");
}

/** Word characters of any script; `\w` covers ASCII only. */
const WORD = "[\\p{L}\\p{N}_]";

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;
