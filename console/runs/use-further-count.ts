import { useEffect, useRef, useState } from "react";
import type { RunTotals } from "troupe/client";
import { useTroupe } from "troupe/react";
import { addedTotals } from "./added-totals.ts";
import { queryOf, type RunFilter } from "./filter.ts";

interface FurtherCount {
  totals: RunTotals;
  /** The number of answers that are added up. */
  pieces: number;
  counting: boolean;
  error: Error | undefined;
  /** Counts on until all runs were looked at. */
  start: () => void;
  stop: () => void;
}

/**
 * Totals, and those of the runs that the server has not looked at yet, which are added on demand. From then on the sum stays as
 * it is while runs change: it belongs to the runs that there were. @param filter the filter of the totals, always the same one
 */
export function useFurtherCount(filter: RunFilter, first: RunTotals): FurtherCount {
  const client = useTroupe();
  const [added, setAdded] = useState<{ totals: RunTotals; pieces: number }>();
  const [counting, setCounting] = useState(false);
  const [error, setError] = useState<Error>();
  const stopped = useRef<AbortController>(undefined);
  const stop = (): void => {
    stopped.current?.abort();
    setCounting(false);
  };
  useEffect(() => () => stopped.current?.abort(), []);

  const count = async (signal: AbortSignal): Promise<void> => {
    let { totals, pieces } = added ?? { totals: first, pieces: 1 };
    while (totals.next_cursor !== null) {
      const query = { ...queryOf(filter), limit: 1, totals_after: totals.next_cursor };
      const next = await client.runs.list(query);
      if (signal.aborted) return;
      totals = addedTotals(totals, next.totals);
      pieces += 1;
      setAdded({ totals, pieces });
    }
  };
  const start = (): void => {
    const controller = new AbortController();
    stopped.current = controller;
    setCounting(true);
    setError(undefined);
    count(controller.signal)
      .catch((reason: unknown) => setError(reason as Error))
      .finally(() => !controller.signal.aborted && setCounting(false));
  };
  return { ...(added ?? { totals: first, pieces: 1 }), counting, error, start, stop };
}
