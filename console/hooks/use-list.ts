import { useCallback, useEffect, useState } from "react";
import type { DirectoryChange } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type Loaded, useLoaded } from "./use-loaded.ts";

export interface List<Item> extends Loaded<readonly Item[]> {
  hasMore: boolean;
  loadMore: () => void;
}

/** A page of a list; the first one without a cursor. Another function loads another list. */
export type LoadPage<Item> = (
  cursor: string | undefined,
) => Promise<{ items: readonly Item[]; next: string | null }>;

/** Changes of busy teams are shown together. */
const TOGETHER_MS = 500;

/** A list over all teams as it is now. @param kinds the changes after which it is loaded again; a constant */
export function useList<Item>(
  loadPage: LoadPage<Item>,
  kinds: readonly DirectoryChange["kind"][],
): List<Item> {
  const client = useTroupe();
  const [pages, setPages] = useState(1);
  const load = useCallback(async () => {
    const items: Item[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page++) {
      const list = await loadPage(cursor);
      items.push(...list.items);
      cursor = list.next ?? undefined;
    }
    return { items, hasMore: cursor !== undefined };
  }, [loadPage, pages]);
  const { value, error, reload } = useLoaded(load);

  useEffect(() => {
    const left = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const soon = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        reload();
      }, TOGETHER_MS);
    };
    const follow = async (): Promise<void> => {
      const onConnection = (state: "open" | "lost"): void => {
        if (state === "open") soon();
      };
      const connection = { signal: left.signal, patienceMs: Infinity, background: false };
      for await (const { kind } of client.events({ ...connection, onConnection })) {
        if (kinds.includes(kind)) soon();
      }
    };
    // A list that cannot be loaded says why.
    follow().catch(() => undefined);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, kinds, reload]);

  const loadMore = useCallback(() => setPages((last) => last + 1), []);
  return { value: value?.items, error, reload, hasMore: value?.hasMore === true, loadMore };
}
