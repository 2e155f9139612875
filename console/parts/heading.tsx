import { createContext, type ReactNode, useContext } from "react";

/** The level of headings in contents, which is one below the heading of the page or of the part around them. */
export const HeadingLevel = createContext(3);

interface HeadingProps {
  /** Defaults to that of the contents around it. */
  level?: number;
  /** The number of `#` of a heading in Markdown. */
  depth?: number;
  children: ReactNode;
}

/** A heading in contents. */
export function Heading({ level, depth, children }: HeadingProps) {
  const around = useContext(HeadingLevel);
  const Element = `h${Math.min(6, level ?? around)}` as "h3";
  return <Element data-depth={depth}>{children}</Element>;
}
