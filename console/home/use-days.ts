import { useCallback } from "react";
import { useTroupe } from "troupe/react";
import { useChanges } from "../hooks/use-changes.ts";
import { useLoaded } from "../hooks/use-loaded.ts";
import { daysOf, lastDays } from "../usage/period.ts";
import { RUN_CHANGES } from "./use-overview.ts";

const DAYS = 14;

/** The runs that ended on a day, UTC. */
export interface DayOfRuns {
  day: string;
  runs: number;
  failed: number;
}

/** The last days, oldest first; the last one is today. */
export function useDays(): readonly DayOfRuns[] | undefined {
  const client = useTroupe();
  const load = useCallback(async (): Promise<DayOfRuns[]> => {
    const period = lastDays(DAYS, Date.now());
    const { usage } = await client.usage({ ...period, by: "day" });
    const rows = new Map(usage.map((row) => [row.day, row]));
    return daysOf(period).map((day) => {
      const { runs = 0, failed = 0 } = rows.get(day) ?? {};
      return { day, runs, failed };
    });
  }, [client]);
  const { value, reload } = useLoaded(load);
  useChanges(RUN_CHANGES, reload);
  return value;
}
