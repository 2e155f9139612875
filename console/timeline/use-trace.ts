import { useEffect, useRef, useState } from "react";
import type { RunTrace, TeamClient, TraceSpan } from "troupe/client";

export interface Trace {
  spans: readonly TraceSpan[];
  /** The number of steps left out of very long turns. */
  dropped: number;
  /** True while more turns are being loaded. */
  loading: boolean;
  error: Error | undefined;
}

interface Page {
  cursor: string | undefined;
  trace: RunTrace;
}

/** The number of turns per page. */
const TURNS = 200;
const NOTHING: Trace = { spans: [], dropped: 0, loading: true, error: undefined };

/**
 * The trace of a run, page by page. Pages of finished turns do not change: a new version reloads only the last page, and the
 * spans around the turns.
 */
export function useTrace(team: TeamClient, run: string, version: number): Trace {
  const [trace, setTrace] = useState(NOTHING);
  const reload = useRef<() => void>(() => undefined);
  useEffect(() => {
    let left = false;
    let pages: readonly Page[] = [];
    const load = async (): Promise<void> => {
      let cursor = pages.at(-1)?.cursor;
      if (cursor !== undefined) {
        pages = pages.with(0, withAround(pages[0], await team.trace(run, { limit: 1 })));
      }
      do {
        const page = { cursor, trace: await team.trace(run, { limit: TURNS, cursor }) };
        if (left) return;
        pages = [...pages.filter((loaded) => isBefore(loaded.cursor, page.cursor)), page];
        cursor = page.trace.next_cursor ?? undefined;
        setTrace({ ...joined(pages), loading: cursor !== undefined, error: undefined });
      } while (cursor !== undefined);
    };
    // An active run changes while the trace is loading. Loading continues, and is then repeated once.
    let loading = false;
    let again = false;
    const loadAll = async (): Promise<void> => {
      loading = true;
      do {
        again = false;
        await load().catch((error: unknown) => {
          if (!left) setTrace((last) => ({ ...last, loading: false, error: error as Error }));
        });
      } while (again);
      loading = false;
    };
    reload.current = () => {
      again = true;
      if (!loading) void loadAll();
    };
    return () => {
      left = true;
    };
  }, [team, run]);
  useEffect(() => reload.current(), [team, run, version]);
  return trace;
}

/** Cursors are turns; the first page has none. */
function isBefore(cursor: string | undefined, other: string | undefined): boolean {
  return other !== undefined && Number(cursor ?? -1) < Number(other);
}

function withAround(first: Page | undefined, { spans }: RunTrace): Page {
  if (first === undefined) throw new RangeError("no page is loaded");
  const own = first.trace.spans.filter(({ kind }) => !isAround(kind));
  const around = spans.filter(({ kind }) => isAround(kind));
  return { ...first, trace: { ...first.trace, spans: [...around, ...own] } };
}

function isAround(kind: TraceSpan["kind"]): boolean {
  return kind === "run" || kind === "queue" || kind === "recovery";
}

function joined(pages: readonly Page[]): Pick<Trace, "spans" | "dropped"> {
  return {
    spans: pages.flatMap(({ trace }) => trace.spans),
    dropped: pages.reduce((sum, { trace }) => sum + trace.dropped_spans, 0),
  };
}
