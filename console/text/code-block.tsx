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
  const highlight = useHighlight(name);
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
          <code>{highlight?.(visibleCode(shown)) ?? visibleCode(shown)}</code>
        </pre>
      ) : (
        <LongText text={shown} />
      )}
    </div>
  );
}

/** By language. */
const loaded = new Map<string, Highlight>();

/** The colours of a language are loaded with the first code in it. Without them it is shown, too. */
function useHighlight(language: string): Highlight | undefined {
  const [, setCount] = useState(0);
  useEffect(() => {
    if (language === "" || loaded.has(language)) return;
    const load = async (): Promise<void> => {
      const { loadHighlight } = await import("./highlight.ts");
      const highlight = await loadHighlight(language);
      if (highlight === undefined) return;
      loaded.set(language, highlight);
      setCount((count) => count + 1);
    };
    load().catch(() => undefined);
  }, [language]);
  return loaded.get(language);
}
