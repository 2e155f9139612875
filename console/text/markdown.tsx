import type { Token } from "marked";
import { memo, useMemo } from "react";
import { Block } from "./block.tsx";
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
  if (blocks === null) return <LongText text={text} />;
  const links = Object.keys(blocks.links).length;
  return (
    <div className="markdown" dir="auto">
      {blocks.map((block, index) => (
        <OneBlock key={index} block={block} links={links} />
      ))}
    </div>
  );
});

/** Links can be defined after their use, and change blocks before. */
const OneBlock = memo(
  ({ block }: { block: Token; links: number }) => <Block token={block} />,
  (last, next) => last.block.raw === next.block.raw && last.links === next.links,
);
