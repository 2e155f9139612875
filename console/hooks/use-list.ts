import { useCallback, useState } from "react";
import type { DirectoryChange } from "troupe/client";
import { useChanges } from "./use-changes.ts";
import { type Loaded, useLoaded } from "./use-loaded.ts";

export interface List<Item> extends Loaded<readonly Item[]> {
  hasMore: boolean;
  /** A remark of the server about the list. */
  note: string | undefined;
  loadMore: () => void;
}

/** A page of a list; the first one without a cursor. Another function loads another list. */
export type LoadPage<Item> = (
  cursor: string | undefined,
) => Promise<{ items: readonly Item[]; next: string | null; note?: string | undefined }>;

/** The live list over all teams. @param kinds the changes after which it is loaded again; a constant */
export function useList<Item>(
  loadPage: LoadPage<Item>,
  kinds: readonly DirectoryChange["kind"][],
): List<Item> {
  const list = usePages(loadPage);
  useChanges(kinds, list.reload);
  return list;
}

/** The list as it was when it was loaded. */
export function usePages<Item>(loadPage: LoadPage<Item>): List<Item> {
  const [pages, setPages] = useState(1);
  const load = useCallback(async () => {
    const items: Item[] = [];
    let cursor: string | undefined;
    let note: string | undefined;
    for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page++) {
      const list = await loadPage(cursor);
      items.push(...list.items);
      note = list.note;
      cursor = list.next ?? undefined;
    }
    return { items, note, hasMore: cursor !== undefined };
  }, [loadPage, pages]);
  const { value, error, reload } = useLoaded(load);
  const loadMore = useCallback(() => setPages((last) => last + 1), []);
  return {
    value: value?.items,
    note: value?.note,
    error,
    reload,
    hasMore: value?.hasMore === true,
    loadMore,
  };
}
