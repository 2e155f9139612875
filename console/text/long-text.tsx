import { beginningOf } from "troupe/client";
import { useState } from "react";
import { sizeOf } from "../parts/numbers.ts";
import { visibleCode } from "./foreign.ts";

const SHOWN = 20_000;

/** Plain text in a monospace font: its beginning, and on demand all of it. */
export function LongText({ text }: { text: string }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN;
  return (
    <>
      <pre className="plain" dir="auto" tabIndex={0}>
        {visibleCode(cut ? beginningOf(text, SHOWN) : text)}
      </pre>
      {cut && (
        <button className="button" type="button" onClick={() => setWhole(true)}>
          Show all {sizeOf(text)}
        </button>
      )}
    </>
  );
}
