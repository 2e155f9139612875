import { useCallback, useRef, useState } from "react";
import type { DirectoryChange, ListedRun, RunTotals } from "troupe/client";
import { useTroupe } from "troupe/react";
import { type List, useList } from "../hooks/use-list.ts";
import { queryOf, type RunFilter } from "./filter.ts";

interface RunListView extends List<ListedRun> {
  /** The totals of all runs that match, and the filter of which they are. */
  counted: { filter: RunFilter; totals: RunTotals } | undefined;
}

const PAGE = 50;
const KINDS: readonly DirectoryChange["kind"][] = ["run", "team_deleted"];

/** The live list of runs that match. @param filter the same object while it is the same filter */
export function useRunList(filter: RunFilter): RunListView {
  const client = useTroupe();
  const [counted, setCounted] = useState<RunListView["counted"]>();
  const wanted = useRef(filter);
  wanted.current = filter;
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { ...queryOf(filter), limit: PAGE, cursor };
      const { runs: items, next_cursor: next, totals } = await client.runs.list(query);
      // The totals of another filter may arrive after those of the one that is set.
      if (wanted.current === filter) setCounted({ filter, totals });
      return { items, next };
    },
    [client, filter],
  );
  return { ...useList(load, KINDS), counted };
}
