import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { RunInfo, TeamClient } from "troupe/client";
import { useTeam, useTroupe } from "troupe/react";
import { PAGE_SIZE } from "../conversation/page-size.ts";
import type { RunBarProps } from "../team/run-bar.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useNow } from "../hooks/use-now.ts";

export interface FollowedRun {
  team: TeamClient;
  run: RunInfo | undefined;
  error: Error | undefined;
  reload: () => void;
  /** A number that changes whenever the run may have progressed. */
  version: number;
  bar: RunBarProps["team"] | undefined;
}

/** Steps of a busy run are shown together. */
const TOGETHER_MS = 700;
/** Streams do not report when a step begins. */
const ANYWAY_MS = 5_000;
const ENDED: ReadonlySet<string> = new Set(["completed", "cancelled", "failed"]);

/** A live run. @param onRetry gets the new run */
export function useRun(
  teamId: string,
  runId: string,
  onRetry: (run: RunInfo) => void,
): FollowedRun {
  const client = useTroupe();
  const team = useMemo(() => client.team(teamId), [client, teamId]);
  const { value, error, reload } = useLoaded(useCallback(() => team.getRun(runId), [team, runId]));
  const view = useTeam(teamId, { pageSize: PAGE_SIZE });
  const isLast = view.run?.id === runId;
  const live = isLast ? view.run : view.queued.find(({ id }) => id === runId);
  const beat = useNow(value?.status === "running" ? ANYWAY_MS : null);
  const said = isLast && view.messages;
  const version = useVersion([live, said, isLast && view.texts.length, beat]);
  useEffect(() => {
    if (version > 0) reload();
  }, [version, reload]);

  // The loaded run has the newer numbers; the stream has the newer status.
  const run = value && (live && live.status !== value.status ? { ...value, ...live } : value);
  const bar = useMemo(
    () =>
      run && {
        status: run.status,
        connected: view.connected || ENDED.has(run.status),
        queued: [],
        run,
        pause: () => team.pause(runId),
        resume: () => team.resume(runId),
        stop: (mode?: "after_turn" | "now") => team.stop(runId, mode),
        retry: isLast
          ? async () => {
              const next = await team.retry(runId);
              onRetry(next);
              return next;
            }
          : undefined,
      },
    [run, view.connected, team, runId, isLast, onRetry],
  );
  return { team, run, error, reload, version, bar };
}

/** Counts how often one of the values has changed, changes in quick succession as one. */
function useVersion(values: readonly unknown[]): number {
  const [version, setVersion] = useState(0);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const first = useRef(true);
  useEffect(() => {
    if (first.current) {
      first.current = false;
      return;
    }
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      setVersion((last) => last + 1);
    }, TOGETHER_MS);
  }, values);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
  return version;
}
