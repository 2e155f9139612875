import { Empty } from "../parts/empty.tsx";
import { counted } from "../parts/numbers.ts";
import { useCallback, useState } from "react";
import type { CollectionInfo, CollectionList } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link } from "wouter";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Ago } from "../parts/time.tsx";
import { useList } from "../hooks/use-list.ts";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { CollectionForm } from "./collection-form.tsx";
import { addressOf } from "./document-file.ts";
import { MemoryHead } from "./memory-head.tsx";

const PAGE = 50;
/** No change over all teams concerns collections. */
const KINDS = [] as const;

/** One whose stored data cannot be used can be deleted only. */
type UnusableCollection = NonNullable<CollectionList["unusable"]>[number];
type ListedCollection = CollectionInfo | UnusableCollection;

/** The collections of documents of the tenant. */
export function CollectionsPage() {
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const page = await client.collections.list({ limit: PAGE, cursor });
      const items: ListedCollection[] = [...page.collections, ...(page.unusable ?? [])];
      return { items, next: page.next_cursor };
    },
    [client],
  );
  const { value, error, reload, hasMore, loadMore } = useList(load, KINDS);
  const [form, setForm] = useState<CollectionInfo | "new">();
  const { postpone } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("teams:write");
  const keyOf = (collection: ListedCollection): string =>
    `collection ${isUsable(collection) ? collection.created_at : ""} ${collection.id}`;
  const remove = (collection: ListedCollection): void =>
    postpone({
      key: keyOf(collection),
      text: `The collection ${collection.id} and its documents were deleted.`,
      action: () => client.collections.delete(collection.id),
    });

  const collections = value?.filter((collection) => !gone.has(keyOf(collection)));
  const create = (
    <button className="button primary" type="button" onClick={() => setForm("new")}>
      <Icon name="plus" />
      New collection
    </button>
  );
  return (
    <div className="page">
      <MemoryHead current="documents">
        {mayWrite && collections !== undefined && collections.length > 0 && create}
      </MemoryHead>
      {error !== undefined && <Failure error={error} onRetry={reload} />}
      {collections === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {collections?.length === 0 && (
        <Empty
          title="No collections yet."
          text="Agents search the documents of a collection and cite them in their answers."
        >
          {mayWrite && create}
        </Empty>
      )}
      {collections !== undefined && collections.length > 0 && (
        <ul className="items" aria-label="Collections">
          {collections.map((collection) => (
            <CollectionEntry key={collection.id} collection={collection}>
              {mayWrite && (
                <div className="item-actions" role="group" aria-label={collection.id}>
                  {isUsable(collection) && (
                    <IconButton icon="edit" name="Edit" onClick={() => setForm(collection)} />
                  )}
                  <IconButton icon="bin" name="Delete" onClick={() => remove(collection)} />
                </div>
              )}
            </CollectionEntry>
          ))}
        </ul>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          <Icon name="down" />
          Show more
        </button>
      )}
      {form !== undefined && (
        <CollectionForm
          collection={form === "new" ? undefined : form}
          taken={value?.map(({ id }) => id) ?? []}
          onClose={() => setForm(undefined)}
          onSaved={reload}
        />
      )}
    </div>
  );
}

function isUsable(collection: ListedCollection): collection is CollectionInfo {
  return "created_at" in collection;
}

interface CollectionEntryProps {
  collection: ListedCollection;
  children: React.ReactNode;
}

function CollectionEntry({ collection, children }: CollectionEntryProps) {
  if (!isUsable(collection)) {
    return (
      <li className="item">
        <div className="item-main">
          <p className="item-title">
            <strong>{collection.id}</strong>
          </p>
          <p className="item-text">{collection.detail}</p>
        </div>
        {children}
      </li>
    );
  }
  const { id, description, documents, updated_at, note } = collection;
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <Link href={addressOf(id)}>
            <strong>{id}</strong>
          </Link>
        </p>
        {description !== null && <p className="item-text">{description}</p>}
        <p className="muted item-facts">
          <span>{counted(documents, "document")}</span>
          <Ago time={updated_at} />
        </p>
        {note !== null && <p className="muted item-facts">{note}</p>}
      </div>
      {children}
    </li>
  );
}
