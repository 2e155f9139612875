import type { CodeBlock } from "./code-block.ts";

/**
 * The fenced blocks of a Markdown text, in their order, as a `CodeExecutorAgent` finds them.
 *
 * @param languages takes only blocks in one of these, whatever its case; otherwise all
 */
export function extractCodeBlocks(text: string, languages?: readonly string[]): CodeBlock[] {
  // The count is limited because an empty language would make the search quadratic in the number of blank lines.
  const names = languages?.map((language) => language.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const opening = names ? `\\s{0,100}(${names.join("|")})` : "[ \\t]{0,100}([\\w+#.-]*)";
  const fenced = new RegExp(`\`\`\`${opening}\\n([\\s\\S]*?)\`\`\``, "giu");
  return Array.from(text.matchAll(fenced), ([, language = "", code = ""]) => ({ code, language }));
}
