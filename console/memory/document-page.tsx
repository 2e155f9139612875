import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { useList } from "../hooks/use-list.ts";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useTitle } from "../shell/title.ts";
import { visibleName } from "../text/foreign.ts";
import { Chunks } from "./chunks.tsx";
import { addressOf } from "./document-file.ts";

const PAGE = 50;
/** No change over all teams concerns documents. */
const KINDS = [] as const;

interface DocumentPageProps {
  collection: string;
  id: string;
}

/** The text of a document, from the page of parts on that has the one in the page's address. */
export function DocumentPage({ collection, id }: DocumentPageProps) {
  const client = useTroupe();
  const [parameters] = useSearchParams();
  const chunk = parameters.get("chunk") ?? "";
  const cited = /^\d{1,9}$/.test(chunk) ? Number(chunk) : undefined;
  const first = Math.floor((cited ?? 0) / PAGE) * PAGE;
  const loadInfo = useCallback(
    () => client.collections.document(collection, id),
    [client, collection, id],
  );
  const { value: info, error, reload } = useLoaded(loadInfo);
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { from: cursor ?? first, limit: PAGE };
      const page = await client.collections.chunks(collection, id, query);
      return { items: page.chunks, next: page.next_from === null ? null : `${page.next_from}` };
    },
    [client, collection, id, first],
  );
  const { value: chunks, hasMore, loadMore } = useList(load, KINDS);
  const title = visibleName(info?.title ?? id);
  useTitle(title);
  if (info === undefined && error !== undefined) return <Failure error={error} onRetry={reload} />;
  return (
    <div className="page">
      <header className="page-head">
        <Link
          className="button quiet icon-only"
          href={addressOf(collection)}
          aria-label="Collection"
        >
          <Icon name="back" />
        </Link>
        <h1>{title}</h1>
      </header>
      {info && (
        <div className="stack">
          <p className="muted item-facts">
            <Status status={info.status} />
            <span>{visibleName(info.id)}</span>
            <span>{info.mime_type}</span>
            <Ago time={info.updated_at} />
          </p>
          {info.error !== null && <p className="item-problem">{info.error}</p>}
        </div>
      )}
      {first > 0 && <Link href={addressOf(collection, id)}>Show from the beginning</Link>}
      {chunks === undefined ? (
        <p className="loading" role="status">
          Loading
        </p>
      ) : (
        <Chunks chunks={chunks} cited={cited} />
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          <Icon name="down" />
          Show more
        </button>
      )}
    </div>
  );
}
