import { useCallback, useEffect, useState } from "react";
import type { ListedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type Loaded, useLoaded } from "../parts/use-loaded.ts";

export interface TeamFilter {
  /** A part of label or id. */
  q: string;
  status: ListedTeam["status"] | "";
}

export interface TeamList extends Loaded<readonly ListedTeam[]> {
  hasMore: boolean;
  loadMore: () => void;
}

const PAGE = 50;
/** Changes of busy teams are shown together. */
const TOGETHER_MS = 500;

/** The teams, newest activity first, as they are now. */
export function useTeamList({ q, status }: TeamFilter): TeamList {
  const client = useTroupe();
  const [pages, setPages] = useState(1);
  const load = useCallback(async () => {
    const teams: ListedTeam[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < pages && (page === 0 || cursor !== undefined); page++) {
      const query = { q: q || undefined, status: status || undefined, limit: PAGE, cursor };
      const list = await client.teams.list(query);
      teams.push(...list.teams);
      cursor = list.next_cursor ?? undefined;
    }
    return { teams, hasMore: cursor !== undefined };
  }, [client, q, status, pages]);
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
        if (kind === "team" || kind === "team_deleted" || kind === "run") soon();
      }
    };
    // A list that cannot be loaded says why.
    follow().catch(() => undefined);
    return () => {
      left.abort();
      clearTimeout(timer);
    };
  }, [client, reload]);

  const loadMore = useCallback(() => setPages((last) => last + 1), []);
  return { value: value?.teams, error, reload, hasMore: value?.hasMore === true, loadMore };
}
