import type { ReactNode } from "react";
import { Link } from "wouter";
import { useTitle } from "../shell/title.ts";

interface MemoryHeadProps {
  current: "known" | "documents" | "skills";
  children?: ReactNode;
}

const TABS = [
  ["known", "/memory", "What is known"],
  ["documents", "/memory/collections", "Documents"],
  ["skills", "/memory/skills", "Skills"],
] as const;

/** The head of the pages of Memory. */
export function MemoryHead({ current, children }: MemoryHeadProps) {
  useTitle({ known: "Memory", documents: "Documents", skills: "Skills" }[current]);
  return (
    <header className="page-head">
      <h1>Memory</h1>
      <nav className="segments" aria-label="Memory">
        {TABS.map(([tab, href, name]) => (
          <Link key={tab} href={href} aria-current={tab === current ? "page" : undefined}>
            {name}
          </Link>
        ))}
      </nav>
      {children}
    </header>
  );
}
