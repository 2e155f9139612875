import { useCallback } from "react";
import type { DirectoryChange, ListedRun } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type List, useList } from "../hooks/use-list.ts";

export interface RunFilter {
  status: string;
  /** Its id. */
  team: string;
}

const PAGE = 50;
const KINDS: readonly DirectoryChange["kind"][] = ["run", "team_deleted"];

/** The runs of all teams or one, newest first, as they are now. */
export function useRunList({ status, team }: RunFilter): List<ListedRun> {
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { status: status || undefined, team: team || undefined, limit: PAGE, cursor };
      const { runs: items, next_cursor: next } = await client.runs.list(query);
      return { items, next };
    },
    [client, status, team],
  );
  return useList(load, KINDS);
}
