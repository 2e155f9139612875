import { useEffect, useMemo, useState } from "react";
import type { RunInfo, TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import type { EndedRun } from "./entries.ts";

/** The number of latest runs whose ends are marked. */
const MOST = 50;
/** A run that was created when another one ended, and not earlier, has interrupted it. */
const SAME_TIME_MS = 200;

/** The runs of a team that failed, were cancelled or have notes, oldest first. */
export function useEndedRuns(team: TeamClient, { run }: Pick<TeamView, "run">): EndedRun[] {
  const [runs, setRuns] = useState<readonly RunInfo[]>([]);
  const last = run === null ? "" : `${run.id} ${run.status}`;
  useEffect(() => {
    if (last === "") return undefined;
    const controller = new AbortController();
    team
      .runs({ limit: MOST, task: "preview" })
      .then((page) => controller.signal.aborted || setRuns(page.runs))
      // The marks are missing then. They are loaded again with the next run.
      .catch(() => undefined);
    return () => controller.abort();
  }, [team, last]);
  return useMemo(() => endedRuns(runs, run), [runs, run]);
}

/** @param runs latest first, as the API lists them @param current the latest one, as the stream shows it */
function endedRuns(runs: readonly RunInfo[], current: RunInfo | null): EndedRun[] {
  const started = runs.filter(({ started_at }) => started_at !== null).toReversed();
  if (current !== null && current.started_at !== null) {
    const position = started.findIndex(({ id }) => id === current.id);
    if (position >= 0) started[position] = current;
    else started.push(current);
  }
  return started.flatMap((run, index) => {
    const isMarked = run.status === "failed" || run.status === "cancelled" || run.notes;
    if (!isMarked) return [];
    const next = started[index + 1];
    const retried = next?.retry_of === run.id;
    const apart = next && Math.abs(Date.parse(next.created_at) - Date.parse(run.ended_at ?? ""));
    const interrupted =
      run.status === "cancelled" && !retried && apart !== undefined && apart < SAME_TIME_MS;
    return [{ run, next, interrupted, retried }];
  });
}
