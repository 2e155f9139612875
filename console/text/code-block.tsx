import { useDeferredValue, useEffect, useState } from "react";
import { tableIn } from "./csv.ts";
import { DataTable } from "./data-table.tsx";
import { useBeside } from "../parts/beside.ts";
import { IconButton } from "../parts/icon-button.tsx";
import { CopyButton } from "./copy-button.tsx";
import { visibleCode, visibleName } from "./foreign.ts";
import { LongText } from "./long-text.tsx";
import type { Highlight } from "./highlight.ts";

/** Languages of tables. */
const SEPARATORS: Readonly<Record<string, "," | "\t" | undefined>> = { csv: ",", tsv: "\t" };
/** The longest code that is highlighted. */
const LONGEST = 30_000;

/** Code with at least this many lines can be opened beside the conversation. */
const LINES = 12;

interface CodeBlockProps {
  code: string;
  /** The info string after the fence. */
  language: string | undefined;
}

export function CodeBlock({ code, language = "" }: CodeBlockProps) {
  const [name = ""] = language.split(/\s/);
  const beside = useBeside();
  const highlight = useHighlight(name);
  const displayed = useDeferredValue(code);
  const short = displayed.length <= LONGEST;
  const rows = SEPARATORS[name] && short ? tableIn(displayed.trim(), SEPARATORS[name]) : undefined;
  if (rows !== undefined) return <DataTable rows={rows} />;
  return (
    <div className="code-block">
      <div className="code-head">
        <span>{visibleName(name) || "text"}</span>
        {beside && code.split("\n", LINES).length === LINES && (
          <IconButton
            small
            icon="fit"
            name="Open beside the conversation"
            onClick={() =>
              beside({
                title: visibleName(name) || "Text",
                content: <CodeBlock code={code} language={language} />,
              })
            }
          />
        )}
        <CopyButton text={code} />
      </div>
      {short ? (
        <pre tabIndex={0} dir="ltr">
          <code>{highlight?.(visibleCode(displayed)) ?? visibleCode(displayed)}</code>
        </pre>
      ) : (
        <LongText text={displayed} />
      )}
    </div>
  );
}

/** By language. */
const loaded = new Map<string, Highlight>();

/** The highlighter of a language is loaded with the first code in it. Until then, code is shown without colours. */
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
