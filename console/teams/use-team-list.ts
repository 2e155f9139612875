import { useCallback } from "react";
import type { DirectoryChange, ListedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type List, useList } from "../hooks/use-list.ts";

export interface TeamFilter {
  /** A part of label or id. */
  q: string;
  status: ListedTeam["status"] | "";
  /** Shows the forks of the playground, too. */
  playground: boolean;
}

const PAGE = 50;
const KINDS: readonly DirectoryChange["kind"][] = ["team", "team_deleted", "run"];

/** The live list of teams, most recent activity first. */
export function useTeamList({ q, status, playground }: TeamFilter): List<ListedTeam> {
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = {
        q: q || undefined,
        status: status || undefined,
        playground: playground ? undefined : "false",
        limit: PAGE,
        cursor,
      };
      const { teams: items, next_cursor: next } = await client.teams.list(query);
      return { items, next };
    },
    [client, q, status, playground],
  );
  return useList(load, KINDS);
}
