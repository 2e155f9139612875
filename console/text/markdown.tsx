import { lexer, type Token } from "marked";
import { memo, useMemo } from "react";
import { Block } from "./block.tsx";
import { LongText } from "./long-text.tsx";

/** Longer texts are shown as they are: nobody reads them, and parsing them would hold up the page. */
const LONGEST = 60_000;

/**
 * Markdown of a model, a tool or a person: elements of React and never HTML, which is shown as it was written. While the text
 * grows, only the blocks that change are rendered.
 */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (text.length > LONGEST) return <LongText text={text} />;
  return <ShortMarkdown text={text} />;
});

function ShortMarkdown({ text }: { text: string }) {
  const blocks = useMemo(() => lexer(text), [text]);
  const links = Object.keys(blocks.links).length;
  return (
    <div className="markdown" dir="auto">
      {blocks.map((block, index) => (
        <OneBlock key={index} block={block} links={links} />
      ))}
    </div>
  );
}

/** Links can be defined after their use, and change blocks before. */
const OneBlock = memo(
  ({ block }: { block: Token; links: number }) => <Block token={block} />,
  (last, next) => last.block.raw === next.block.raw && last.links === next.links,
);
