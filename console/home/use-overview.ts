import { useCallback } from "react";
import type {
  DirectoryChange,
  FailureGroup,
  FailureList,
  ListedRun,
  RunTotals,
} from "troupe/client";
import { useTroupe } from "troupe/react";
import { useChanges } from "../hooks/use-changes.ts";
import { type Loaded, useLoaded } from "../hooks/use-loaded.ts";
import { failureRate } from "../parts/numbers.ts";
import { dayOf } from "../usage/period.ts";

/** The most lines of a panel. */
export const MOST_SHOWN = 4;
/** The most groups of failures among which the largest are. */
const MOST_GROUPS = 100;
const DAYS_BEFORE = 7;
const DAY_MS = 86_400_000;
/** The changes after which counts of runs are loaded again. */
export const RUN_CHANGES: readonly DirectoryChange["kind"][] = ["run", "team_deleted"];

interface SomeRuns {
  runs: readonly ListedRun[];
  total: number;
}

interface SomeFailures {
  /** The largest groups, the largest first. */
  groups: readonly FailureGroup[];
  /** The number of failed runs in all groups. */
  total: number;
  /** False if there are more. */
  complete: boolean;
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
  failed: SomeFailures;
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
      client.runs.failures({ since: yesterday, limit: MOST_GROUPS }),
      list({ from: today, limit: 1 }),
      list({ from: first, to: yesterday, limit: 1 }),
    ]);
    const { totals } = ofBefore;
    return {
      running: { runs: running.runs, total: running.totals.runs },
      failed: largestOf(failed),
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
  useChanges(RUN_CHANGES, loaded.reload);
  return loaded;
}

function largestOf({ groups, complete, next_cursor }: FailureList): SomeFailures {
  return {
    groups: groups.toSorted((one, other) => other.count - one.count).slice(0, MOST_SHOWN),
    total: groups.reduce((sum, { count }) => sum + count, 0),
    complete: complete && next_cursor === null,
  };
}

function daysAgo(days: number): string {
  return dayOf(Date.now() - days * DAY_MS);
}
