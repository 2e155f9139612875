import { useCallback } from "react";
import type { DirectoryChange, ListedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type List, useList } from "../hooks/use-list.ts";

export interface TeamFilter {
  /** A part of label or id. */
  q: string;
  status: ListedTeam["status"] | "";
}

const PAGE = 50;
const KINDS: readonly DirectoryChange["kind"][] = ["team", "team_deleted", "run"];

/** The live list of teams, most recent activity first. */
export function useTeamList({ q, status }: TeamFilter): List<ListedTeam> {
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { q: q || undefined, status: status || undefined, limit: PAGE, cursor };
      const { teams: items, next_cursor: next } = await client.teams.list(query);
      return { items, next };
    },
    [client, q, status],
  );
  return useList(load, KINDS);
}
