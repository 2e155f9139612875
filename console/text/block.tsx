import type { Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { Heading } from "../parts/heading.tsx";
import { CodeBlock } from "./code-block.tsx";
import { withoutEntities } from "./foreign.ts";
import { Formula } from "./formula.tsx";
import { Inlines } from "./inlines.tsx";

interface BlockProps {
  token: Token;
  /** The level of a heading, or of the headings inside a quote or a list. */
  level: number;
}

/** A block of Markdown. Unknown syntax is shown as source. */
export function Block({ token: given, level }: BlockProps): ReactNode {
  const token = given as Tokens.Generic;
  switch (given.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return (
        <Heading level={level} depth={(token as Tokens.Heading).depth}>
          <Inlines tokens={token.tokens} />
        </Heading>
      );
    case "paragraph":
      return (
        <p>
          <Inlines tokens={token.tokens} />
        </p>
      );
    case "code": {
      const { text, lang } = token as Tokens.Code;
      return <CodeBlock code={text} language={lang} />;
    }
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={token.tokens} level={level} />
        </blockquote>
      );
    case "list":
      return <List list={token as Tokens.List} level={level} />;
    case "table":
      return <Table table={token as Tokens.Table} />;
    case "formula":
      return <Formula tex={token["tex"]} display={token["display"]} />;
    case "hr":
      return <hr />;
    case "checkbox":
      return <Checkbox checked={(token as Tokens.Checkbox).checked} />;
    case "text":
      return token.tokens ? <Inlines tokens={token.tokens} /> : withoutEntities(token["text"]);
    default:
      return <p className="raw">{token.raw}</p>;
  }
}

function Blocks({ tokens = [], level }: { tokens: Token[] | undefined; level: number }) {
  return tokens.map((token, index) => <Block key={index} token={token} level={level} />);
}

function List({ list, level }: { list: Tokens.List; level: number }) {
  const items = list.items.map((item, index) => (
    <li key={index} className={item.task ? "task" : undefined}>
      <Blocks tokens={item.tokens} level={level} />
    </li>
  ));
  return list.ordered ? <ol start={Number(list.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Checkbox({ checked }: { checked: boolean }) {
  return (
    <input type="checkbox" checked={checked} disabled aria-label={checked ? "done" : "to do"} />
  );
}

function Table({ table: { header, rows } }: { table: Tokens.Table }) {
  const cells = (kind: "th" | "td") => (cell: Tokens.TableCell, index: number) => {
    // An empty corner cell is not a header.
    const Cell = cell.text === "" ? "td" : kind;
    return (
      <Cell key={index} data-align={cell.align ?? undefined}>
        <Inlines tokens={cell.tokens} />
      </Cell>
    );
  };
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>{header.map(cells("th"))}</tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>{row.map(cells("td"))}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
