import { useCallback } from "react";
import type { DirectoryChange, ListedRun, RunTotals } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useChanges } from "../hooks/use-changes.ts";
import { type Loaded, useLoaded } from "../hooks/use-loaded.ts";
import { failureRate } from "../runs/run-totals.tsx";
import { dayOf } from "../usage/period.ts";

/** The most lines of a panel. */
export const MOST_SHOWN = 4;
const DAYS_BEFORE = 7;
const DAY_MS = 86_400_000;
const KINDS: readonly DirectoryChange["kind"][] = ["run", "team_deleted"];

interface SomeRuns {
  runs: readonly ListedRun[];
  total: number;
}

/** An average day before today. */
export interface DaysBefore {
  runs: number;
  cost: number | null;
  p95_seconds: number | null;
  failureRate: string;
}

interface OverviewValues {
  running: SomeRuns;
  failed: SomeRuns;
  today: RunTotals;
  before: DaysBefore;
  /** Yesterday, UTC. */
  yesterday: string;
}

export function useOverview(): Loaded<OverviewValues> {
  const client = useTroupe();
  const load = useCallback(async (): Promise<OverviewValues> => {
    const list = client.runs.list;
    const [today, yesterday, first] = [0, 1, DAYS_BEFORE].map(daysAgo) as [string, string, string];
    const [running, failed, ofToday, ofBefore] = await Promise.all([
      list({ status: "running", limit: MOST_SHOWN }),
      list({ status: "failed", from: yesterday, limit: MOST_SHOWN }),
      list({ from: today, limit: 1 }),
      list({ from: first, to: yesterday, limit: 1 }),
    ]);
    const { totals } = ofBefore;
    return {
      running: { runs: running.runs, total: running.totals.runs },
      failed: { runs: failed.runs, total: failed.totals.runs },
      today: ofToday.totals,
      before: {
        runs: totals.runs / DAYS_BEFORE,
        cost: totals.cost === null ? null : totals.cost / DAYS_BEFORE,
        p95_seconds: totals.p95_seconds,
        failureRate: failureRate(totals),
      },
      yesterday,
    };
  }, [client]);
  const loaded = useLoaded(load);
  useChanges(KINDS, loaded.reload);
  return loaded;
}

function daysAgo(days: number): string {
  return dayOf(Date.now() - days * DAY_MS);
}
