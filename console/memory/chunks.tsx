import { useEffect, useRef } from "react";
import type { ChunkPage } from "troupe/client";
import { HeadingLevel } from "../parts/heading.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";

interface ChunksProps {
  chunks: readonly ChunkPage["chunks"][number][];
  /** The cited one, which is scrolled to. */
  cited: number | undefined;
}

/** Parts of a document in their order. */
export function Chunks({ chunks, cited }: ChunksProps) {
  const shown = useRef<HTMLElement>(null);
  const isThere = chunks.some(({ chunk }) => chunk === cited);
  useEffect(() => {
    if (isThere) shown.current?.scrollIntoView({ block: "start" });
  }, [isThere, cited]);
  return (
    <div className="chunks">
      {chunks.map(({ chunk, heading, page, content }, index) => {
        const before = chunks[index - 1];
        return (
          <section
            key={chunk}
            ref={chunk === cited ? shown : undefined}
            className="chunk"
            aria-label={chunk === cited ? "Cited part" : `Part ${chunk + 1}`}
            data-cited={chunk === cited}
          >
            {heading !== null && heading !== before?.heading && <h2>{visibleName(heading)}</h2>}
            {page !== null && page !== before?.page && <p className="muted">Page {page}</p>}
            <HeadingLevel value={2}>
              <Markdown text={content} />
            </HeadingLevel>
          </section>
        );
      })}
    </div>
  );
}
