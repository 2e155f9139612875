import { useDeferredValue, useEffect, useState } from "react";
import { CopyButton } from "./copy-button.tsx";
import { visibleCode, visibleName } from "./foreign.ts";
import { LongText } from "./long-text.tsx";
import type { Highlight } from "./highlight.ts";

/** Longer code has no colours. */
const LONGEST = 30_000;

interface CodeBlockProps {
  code: string;
  /** What follows the fence. */
  language: string | undefined;
}

export function CodeBlock({ code, language = "" }: CodeBlockProps) {
  const [name = ""] = language.split(/\s/);
  const highlight = useHighlight();
  const shown = useDeferredValue(code);
  const short = shown.length <= LONGEST;
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{visibleName(name) || "text"}</span>
        <CopyButton text={code} />
      </div>
      {short ? (
        <pre tabIndex={0} dir="ltr">
          <code>{highlight?.(visibleCode(shown), name) ?? visibleCode(shown)}</code>
        </pre>
      ) : (
        <LongText text={shown} />
      )}
    </div>
  );
}

let loaded: Highlight | undefined;

/** The colours are loaded with the first code. Without them it is shown, too. */
function useHighlight(): Highlight | undefined {
  const [highlight, setHighlight] = useState(() => loaded);
  useEffect(() => {
    if (highlight !== undefined) return;
    const load = async (): Promise<void> => {
      loaded = (await import("./highlight.ts")).highlight;
      setHighlight(() => loaded);
    };
    load().catch(() => undefined);
  }, [highlight]);
  return highlight;
}
