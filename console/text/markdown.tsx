import type { Token } from "marked";
import { memo, useContext, useMemo } from "react";
import { HeadingLevel } from "../parts/heading.tsx";
import { Block } from "./block.tsx";
import { headingLevels } from "./heading-levels.ts";
import { lexer } from "./lexer.ts";
import { LongText } from "./long-text.tsx";
import { completedMarkdown } from "./completed-markdown.ts";

interface MarkdownProps {
  text: string;
  /** True while it is being written: half-written syntax is not shown. */
  growing?: boolean;
}

/**
 * Markdown of a model, a tool or a person: elements of React and never HTML, which is shown as text. While the text
 * grows, only the blocks that change are rendered.
 */
export const Markdown = memo(function Markdown({ text, growing = false }: MarkdownProps) {
  const displayed = growing ? completedMarkdown(text) : text;
  const blocks = useMemo(() => lexer(displayed), [displayed]);
  const around = useContext(HeadingLevel);
  if (blocks === null) return <LongText text={text} />;
  const links = Object.keys(blocks.links).length;
  const levels = headingLevels(blocks, around);
  return (
    <div className="markdown" dir="auto">
      {blocks.map((block, index) => (
        <OneBlock key={index} block={block} links={links} level={levels[index] ?? around} />
      ))}
    </div>
  );
});

/** Links can be defined after their use, and change blocks before. */
const OneBlock = memo(
  ({ block, level }: { block: Token; links: number; level: number }) => (
    <Block token={block} level={level} />
  ),
  (last, next) =>
    last.block.raw === next.block.raw && last.links === next.links && last.level === next.level,
);
