import { useCallback, useMemo, useState } from "react";
import type { RunInfo, TeamClient } from "troupe/client";
import { useSearchParams } from "wouter";
import { IconButton } from "../parts/icon-button.tsx";
import { Problem } from "../parts/problem.tsx";
import { useNow } from "../hooks/use-now.ts";
import { Overview } from "./overview.tsx";
import { foldAll, type Folds, foldsAround, type Row, rowsOf } from "./rows.ts";
import { StepDetails } from "./step-details.tsx";
import { type TimelineStep, stepsOf } from "./steps.ts";
import { timeScale, type View, WHOLE, zoomed } from "./time-scale.ts";
import { TimelineGrid } from "./timeline-grid.tsx";
import { useTrace } from "./use-trace.ts";

interface TimelineProps {
  team: TeamClient;
  run: RunInfo;
  /** A number that changes when the run may have progressed. */
  version: number;
}

const GROWS_EVERY_MS = 500;

/** The timeline of a run: turns, and inside them agents, model calls, tools and waits. */
export function Timeline({ team, run, version }: TimelineProps) {
  const { spans, dropped, loading, error } = useTrace(team, run.id, version);
  const steps = useMemo(() => stepsOf(spans), [spans]);
  const [folds, setFolds] = useState<Folds>(() => new Map());
  const [shorten, setShorten] = useState(true);
  const [view, setView] = useState<View>(WHOLE);
  const [search, setSearch] = useSearchParams();
  // The address has the step whose details are shown.
  const chosen = search.get("step") ?? undefined;
  const growing = steps.run !== undefined && steps.run.end === null;
  const now = useNow(growing ? GROWS_EVERY_MS : null);
  const scale = useMemo(() => {
    const start = steps.run?.start ?? now;
    return timeScale(start, steps.run?.end ?? now, steps.busy, shorten);
  }, [steps, now, shorten]);
  const isShortened = useMemo(
    () => scale.pieces.some(({ short }) => short) || !shorten,
    [scale, shorten],
  );

  const fold = useCallback((row: Row, open = !row.open) => {
    setFolds((last) => new Map(last).set(row.step.span.span_id, open));
  }, []);
  const choose = useCallback(
    (row: Row | undefined) =>
      setSearch(
        (last) => {
          const next = new URLSearchParams(last);
          next.delete("step");
          if (row !== undefined) next.set("step", row.step.span.span_id);
          return next;
        },
        { replace: true },
      ),
    [setSearch],
  );
  const close = useCallback(() => choose(undefined), [choose]);
  const [linked] = useState(chosen);
  const around = useMemo(
    () => foldsAround(linked === undefined ? undefined : steps.byId.get(linked)),
    [steps, linked],
  );
  const rows = useMemo(
    () => rowsOf(steps.all, new Map([...around, ...folds])),
    [steps, around, folds],
  );
  const zoom = useCallback(
    (factor: number, at?: number) =>
      setView((last) => zoomed(last, factor, at ?? (last.from + last.to) / 2, scale)),
    [scale],
  );
  const step: TimelineStep | undefined = chosen === undefined ? undefined : steps.byId.get(chosen);

  return (
    <section className="timeline" aria-label="Timeline" data-details={step !== undefined}>
      <div className="timeline-bar">
        <h2>Timeline</h2>
        <span className="muted" role="status">
          {loading && spans.length > 0 && `${steps.all.length} turns, loading more`}
          {dropped > 0 && `${dropped} steps of very long turns were not recorded`}
        </span>
        <span className="timeline-tools">
          {isShortened && (
            <label className="check">
              <input
                type="checkbox"
                checked={shorten}
                onChange={(event) => {
                  setShorten(event.target.checked);
                  setView(WHOLE);
                }}
              />
              Shorten waits
            </label>
          )}
          <IconButton
            small
            icon="fold"
            name="Collapse all turns"
            onClick={() => setFolds(foldAll(steps.all, false))}
          />
          <IconButton
            small
            icon="unfold"
            name="Expand all turns"
            onClick={() => setFolds(foldAll(steps.all, true))}
          />
          <IconButton small icon="minus" name="Zoom out" keys="-" onClick={() => zoom(2)} />
          <IconButton small icon="plus" name="Zoom in" keys="+" onClick={() => zoom(0.5)} />
          <button
            className="button small"
            type="button"
            aria-keyshortcuts="0"
            disabled={view.to - view.from === 1}
            onClick={() => setView(WHOLE)}
          >
            Whole run
          </button>
        </span>
      </div>
      {error && <Problem error={error} />}
      {rows.length === 0 ? (
        <p className={loading ? "loading" : "muted none"} role="status">
          {loading ? "Loading" : "This run has no recorded steps."}
        </p>
      ) : (
        <>
          <Overview steps={steps.all} scale={scale} view={view} onView={setView} />
          <TimelineGrid
            rows={rows}
            scale={scale}
            view={view}
            chosen={chosen}
            onFold={fold}
            onChoose={choose}
            onView={setView}
            onZoom={zoom}
          />
        </>
      )}
      {step && (
        <StepDetails
          key={chosen}
          step={step}
          start={scale.start}
          run={run}
          team={team}
          version={step.end === null ? version : 0}
          onClose={close}
        />
      )}
    </section>
  );
}
