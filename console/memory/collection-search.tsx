import { type FormEvent, useState } from "react";
import type { CollectionResult } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { visibleName } from "../text/foreign.ts";
import { addressOf } from "./document-file.ts";

/** The results that an agent would get for a question. */
export function CollectionSearch({ collection }: { collection: string }) {
  const client = useTroupe();
  const [q, setQ] = useState("");
  const [found, setFound] = useState<CollectionResult>();
  const task = useButtonAction();
  const search = (event: FormEvent): void => {
    event.preventDefault();
    if (q.trim() === "") return;
    void task.run(async () => setFound(await client.collections.search(collection, { q })));
  };
  return (
    <section className="stack" aria-label="Try a search">
      <form className="collection-search" onSubmit={search}>
        <div className="search">
          <Icon name="search" />
          <input
            type="search"
            aria-label="Question"
            placeholder="Ask a question about the documents"
            maxLength={10_000}
            value={q}
            onChange={({ target }) => setQ(target.value)}
          />
        </div>
        <button className="button" disabled={task.busy} aria-busy={task.busy}>
          Search
        </button>
      </form>
      <Problem error={task.error} />
      {found && (
        <>
          <p className="muted" role="status">
            {found.results.length === 0
              ? "No results."
              : found.mode === "hybrid"
                ? "Matched by words and meaning."
                : (found.note ?? "Matched by words.")}
          </p>
          <ol className="items" aria-label="Results">
            {found.results.map(({ document, chunk, heading, page, content, score }) => (
              <li key={`${document} ${chunk}`} className="item">
                <div className="item-main">
                  <p className="item-title">
                    <Link href={addressOf(collection, document, chunk)}>
                      <strong>{visibleName(heading ?? document)}</strong>
                    </Link>
                  </p>
                  <p className="item-text" dir="auto">
                    {content}
                  </p>
                  <p className="muted item-facts">
                    <span>{visibleName(document)}</span>
                    {page !== null && <span>Page {page}</span>}
                    <span>Score {score.toFixed(3)}</span>
                  </p>
                </div>
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}
