import type { CodeBlock } from "./code-block.ts";

/** The fenced blocks of a Markdown text in one of `languages`, whatever its case, in their order. */
export function markdownCode(text: string, languages: readonly string[]): CodeBlock[] {
  // The count is limited because an empty language would make the search quadratic in the number of blank lines.
  const known = languages.map((language) => language.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const fenced = new RegExp(`\`\`\`\\s{0,100}(${known.join("|")})\\n([\\s\\S]*?)\`\`\``, "giu");
  return Array.from(text.matchAll(fenced), ([, language = "", code = ""]) => ({ code, language }));
}
