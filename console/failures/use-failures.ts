import { useCallback } from "react";
import type { DirectoryChange, FailureGroup } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type List, useList } from "../hooks/use-list.ts";

const PAGE = 50;
const KINDS: readonly DirectoryChange["kind"][] = ["run", "team_deleted"];

/** The live groups of failures. @param since the first day; undefined for all */
export function useFailures(since: string | undefined): List<FailureGroup> {
  const client = useTroupe();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const list = await client.runs.failures({ since, limit: PAGE, cursor });
      const { groups: items, next_cursor: next, complete } = list;
      const note = complete ? undefined : "These are groups of the latest 10,000 failed runs.";
      return { items, next, note };
    },
    [client, since],
  );
  return useList(load, KINDS);
}
