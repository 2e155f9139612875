import type { Token, Tokens } from "marked";

/**
 * The level of each block's headings. Texts of models begin with any number of `#` and leave some out, so a heading is one
 * level below the closest one before it that has fewer of them: no level is left out. @param around that of the first heading
 */
export function headingLevels(blocks: readonly Token[], around: number): number[] {
  const open: number[] = [];
  return blocks.map((block) => {
    if (block.type !== "heading") return around + open.length;
    const { depth } = block as Tokens.Heading;
    while ((open.at(-1) ?? 0) >= depth) open.pop();
    return around + open.push(depth) - 1;
  });
}
