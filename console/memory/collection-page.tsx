import { counted } from "../parts/numbers.ts";
import { useCallback, useEffect, useState } from "react";
import type { DocumentInfo } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Upload } from "../files/upload.tsx";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { shortNumber } from "../parts/numbers.ts";
import { useList } from "../hooks/use-list.ts";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { useTitle } from "../shell/title.ts";
import { CollectionForm } from "./collection-form.tsx";
import { CollectionSearch } from "./collection-search.tsx";
import { documentId, documentType } from "./document-file.ts";
import { DocumentTable } from "./document-table.tsx";

const PAGE = 100;
/** No change over all teams concerns documents. */
const KINDS = [] as const;
/** The interval at which the progress of embedding is loaded. */
const PROGRESS_MS = 1_000;

/** A collection with its documents. */
export function CollectionPage({ id }: { id: string }) {
  useTitle(id);
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const page = await client.collections.documents(id, { limit: PAGE, cursor });
      return { items: page.documents, next: page.next_cursor };
    },
    [client, id],
  );
  const { value, error, reload: reloadDocuments, hasMore, loadMore } = useList(load, KINDS);
  const loadInfo = useCallback(() => client.collections.get(id), [client, id]);
  const { value: info, reload: reloadInfo } = useLoaded(loadInfo);
  const reload = useCallback(() => {
    reloadDocuments();
    reloadInfo();
  }, [reloadDocuments, reloadInfo]);
  const underWay = value?.some(({ status }) => status === "queued" || status === "embedding");
  useEffect(() => {
    if (underWay !== true) return undefined;
    const timer = setInterval(reload, PROGRESS_MS);
    return () => {
      clearInterval(timer);
      // The numbers may have been counted before the last document was ready.
      reloadInfo();
    };
  }, [underWay, reload, reloadInfo]);
  const [changing, setChanging] = useState(false);
  const embedding = useButtonAction();
  const { attempt, postpone, tell, undo } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const keyOf = ({ id: document, updated_at }: DocumentInfo): string =>
    `document ${id} ${updated_at} ${document}`;

  const put = async (document: string, file: File): Promise<void> => {
    // A document that is put again while its deletion is pending stays.
    for (const one of value ?? []) if (one.id === document) undo(keyOf(one));
    const type = documentType(file);
    await client.collections.putDocument(id, document, { content: file, type });
  };
  const remove = (document: DocumentInfo): void =>
    postpone({
      key: keyOf(document),
      text: `${document.id} was deleted.`,
      action: () => client.collections.deleteDocument(id, document.id),
    });

  if (value === undefined && error !== undefined) return <Failure error={error} onRetry={reload} />;
  const documents = value?.filter((document) => !gone.has(keyOf(document)));
  const mayEmbed = mayWrite && info?.embedding != null && info.embedded < info.chunks;
  return (
    <div className="page">
      <header className="page-head">
        <Link
          className="button quiet icon-only"
          href="/memory/collections"
          aria-label="All collections"
        >
          <Icon name="back" />
        </Link>
        <h1>{id}</h1>
        {mayEmbed && (
          <button
            className="button"
            type="button"
            disabled={embedding.busy}
            aria-busy={embedding.busy}
            onClick={() =>
              void embedding.run(() =>
                attempt(async () => {
                  await client.collections.embed(id);
                  reload();
                }),
              )
            }
          >
            <Icon name="retry" />
            Embed missing parts
          </button>
        )}
        {mayWrite && info && (
          <button className="button" type="button" onClick={() => setChanging(true)}>
            <Icon name="edit" />
            Edit
          </button>
        )}
      </header>
      {info && (
        <div className="stack">
          {info.description !== null && <p>{info.description}</p>}
          <p className="muted item-facts">
            <span>{counted(info.documents, "document")}</span>
            <span>{counted(info.chunks, "part")}</span>
            {info.embedding !== null && <span>{shortNumber(info.embedded)} embedded</span>}
            {info.failed > 0 && <span className="bad">{shortNumber(info.failed)} failed</span>}
            {info.embedding_tokens > 0 && (
              <span>{counted(info.embedding_tokens, "token")} for embedding</span>
            )}
          </p>
          {info.note !== null && <p className="muted">{info.note}</p>}
        </div>
      )}
      {mayWrite && info && (
        <Upload onFile={(file) => put(documentId(file.name), file)} onUploaded={reload} />
      )}
      {documents === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {documents?.length === 0 && (
        <p className="muted none">
          No documents yet. Upload text, Markdown or HTML; PDF needs a server that can read it.
        </p>
      )}
      {documents !== undefined && documents.length > 0 && (
        <>
          <CollectionSearch collection={id} />
          <DocumentTable
            collection={id}
            documents={documents}
            actions={
              mayWrite
                ? {
                    onPut: (document, file) =>
                      void attempt(async () => {
                        await put(document, file);
                        tell(`${document} was replaced.`);
                        reload();
                      }),
                    onDelete: remove,
                  }
                : undefined
            }
          />
        </>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          <Icon name="down" />
          Show more
        </button>
      )}
      {changing && info && (
        <CollectionForm
          collection={info}
          taken={[]}
          onClose={() => setChanging(false)}
          onSaved={reload}
        />
      )}
    </div>
  );
}
