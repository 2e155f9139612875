import { useVirtualizer } from "@tanstack/react-virtual";
import { type KeyboardEvent, useCallback, useEffect, useId, useRef, useState } from "react";
import { Axis, Background } from "./axis.tsx";
import type { Row } from "./rows.ts";
import { moved, placeOf, type TimeScale, type View, WHOLE, within } from "./time-scale.ts";
import { TimelineRow } from "./timeline-row.tsx";

interface TimelineGridProps {
  rows: readonly Row[];
  scale: TimeScale;
  view: View;
  /** The id of the step whose details are shown. */
  chosen: string | undefined;
  onFold: (row: Row, open?: boolean) => void;
  onChoose: (row: Row | undefined) => void;
  onView: (view: View) => void;
  /** @param at the position that stays fixed */
  onZoom: (factor: number, at?: number) => void;
}

const ROW_PX = 28;
/** The width below which the bar moves under the name. */
const NARROW_ROW_PX = 46;
const NARROW = "(max-width: 720px)";

/** The rows of the timeline as a tree grid. Only visible rows are rendered. */
export function TimelineGrid(props: TimelineGridProps) {
  const { rows, scale, view, chosen, onFold, onChoose, onView, onZoom } = props;
  const grid = useRef<HTMLDivElement>(null);
  const axis = useRef<HTMLSpanElement>(null);
  const prefix = useId();
  const [active, setActive] = useState<string>();
  const rowPx = useMatches(NARROW) ? NARROW_ROW_PX : ROW_PX;
  const px = useWidth(axis);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => rows[index]?.step.span.span_id ?? index,
    overscan: 12,
    // The header row stays on top.
    scrollMargin: rowPx,
    scrollPaddingStart: rowPx,
  });
  useEffect(() => list.measure(), [list, rowPx]);
  useWheel(axis, grid, view, onView, onZoom);

  const found = rows.findIndex(({ step }) => step.span.span_id === active);
  const current = Math.max(0, found);
  const go = (index: number): void => {
    const next = Math.min(Math.max(0, index), rows.length - 1);
    setActive(rows[next]?.step.span.span_id);
    list.scrollToIndex(next);
  };
  // A step that the address names is scrolled to, once it is loaded.
  const linked = useRef(chosen);
  useEffect(() => {
    const index = rows.findIndex(({ step }) => step.span.span_id === linked.current);
    if (index === -1) return;
    linked.current = undefined;
    setActive(rows[index]?.step.span.span_id);
    list.scrollToIndex(index, { align: "center" });
  }, [rows, list]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[current];
    if (row === undefined) return;
    const action = actionOf(event.key, {
      row,
      current,
      rows,
      page: Math.floor((grid.current?.clientHeight ?? 0) / rowPx) - 2,
    });
    if (action === undefined) return;
    event.preventDefault();
    if ("go" in action) go(action.go);
    else if ("open" in action) onFold(row, action.open);
    else if ("zoom" in action) onZoom(action.zoom, focusOf(row, scale, view));
    else if (action.show === "whole") onView(WHOLE);
    else if (action.show === "step") onView(viewOf(row, scale));
    else onChoose(action.show === "details" ? row : undefined);
  };

  const choose = useCallback(
    (row: Row) => {
      setActive(row.step.span.span_id);
      onChoose(row);
    },
    [onChoose],
  );
  const items = list.getVirtualItems();
  const inSight = items.some(({ index }) => index === current);
  return (
    <div
      ref={grid}
      className="timeline-grid"
      role="treegrid"
      aria-label="Steps of the run"
      aria-description="Arrow keys move, collapse and expand; Enter shows details, plus and minus zoom, Z zooms to the step, 0 shows the whole run."
      aria-rowcount={rows.length + 1}
      aria-activedescendant={inSight ? `${prefix}${rows[current]?.step.span.span_id}` : undefined}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={() => {
        if (found === -1) setActive(rows[0]?.step.span.span_id);
      }}
    >
      <div role="row" className="timeline-head" aria-rowindex={1}>
        <span role="columnheader">Step</span>
        <span role="columnheader" className="number">
          Duration
        </span>
        <span role="columnheader" className="number">
          Tokens
        </span>
        <span role="columnheader" className="number">
          Cost
        </span>
        <span role="columnheader" className="bar-cell" ref={axis}>
          <span className="hidden">Time</span>
          <Axis scale={scale} view={view} px={px} />
        </span>
      </div>
      <div role="rowgroup" className="timeline-rows" style={{ height: list.getTotalSize() }}>
        <Background scale={scale} view={view} px={px} />
        {items.map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          const { span_id } = row.step.span;
          return (
            <TimelineRow
              key={item.key}
              row={row}
              id={`${prefix}${span_id}`}
              index={item.index + 2}
              active={item.index === current}
              chosen={span_id === chosen}
              top={item.start - rowPx}
              scale={scale}
              view={view}
              onFold={onFold}
              onChoose={choose}
            />
          );
        })}
      </div>
    </div>
  );
}

type Action =
  | { go: number }
  | { open: boolean }
  | { zoom: number }
  | { show: "details" | "nothing" | "whole" | "step" };

interface GridCursor {
  row: Row;
  current: number;
  rows: readonly Row[];
  /** The number of visible rows. */
  page: number;
}

/** The keyboard actions: those of a tree grid, and the zoom. */
function actionOf(key: string, { row, current, rows, page }: GridCursor): Action | undefined {
  switch (key) {
    case "ArrowDown":
      return { go: current + 1 };
    case "ArrowUp":
      return { go: current - 1 };
    case "PageDown":
      return { go: current + page };
    case "PageUp":
      return { go: current - page };
    case "Home":
      return { go: 0 };
    case "End":
      return { go: rows.length - 1 };
    case "ArrowRight":
      return row.open === true ? { go: current + 1 } : { open: true };
    case "ArrowLeft":
      if (row.open === true) return { open: false };
      return { go: parentOf(rows, current) };
    case "Enter":
    case " ":
      return { show: "details" };
    case "Escape":
      return { show: "nothing" };
    case "+":
    case "=":
      return { zoom: 0.5 };
    case "-":
      return { zoom: 2 };
    case "0":
      return { show: "whole" };
    case "z":
      return { show: "step" };
    default:
      return undefined;
  }
}

function parentOf(rows: readonly Row[], index: number): number {
  const level = rows[index]?.level ?? 1;
  for (let above = index - 1; above >= 0; above--) {
    if ((rows[above]?.level ?? 1) < level) return above;
  }
  return index;
}

/** The middle of a step, or of the view if the step is not visible. */
function focusOf({ step }: Row, scale: TimeScale, view: View): number | undefined {
  const middle = placeOf(scale, (step.start + (step.end ?? scale.end)) / 2);
  const part = within(view, middle);
  return part >= 0 && part <= 1 ? middle : undefined;
}

/** The view of a step with a margin. */
function viewOf({ step }: Row, scale: TimeScale): View {
  const from = placeOf(scale, step.start);
  const to = placeOf(scale, step.end ?? scale.end);
  const margin = Math.max((to - from) * 0.1, 2 / scale.drawn);
  return { from: Math.max(0, from - margin), to: Math.min(1, to + margin) };
}

function useMatches(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const media = matchMedia(query);
    const changed = (): void => setMatches(media.matches);
    media.addEventListener("change", changed);
    return () => media.removeEventListener("change", changed);
  }, [query]);
  return matches;
}

/** The current width of an element. */
function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry?.contentRect.width ?? 0));
    if (element.current !== null) observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Ctrl and the wheel zoom at the pointer; scrolling sideways moves the view. React's listeners cannot prevent the default. */
function useWheel(
  axis: React.RefObject<HTMLElement | null>,
  grid: React.RefObject<HTMLElement | null>,
  view: View,
  onView: (view: View) => void,
  onZoom: (factor: number, at?: number) => void,
): void {
  useEffect(() => {
    const element = grid.current;
    const wheel = (event: WheelEvent): void => {
      const { left = 0, width = 0 } = axis.current?.getBoundingClientRect() ?? {};
      if (width === 0) return;
      const seen = view.to - view.from;
      const sideways = event.shiftKey ? event.deltaY : event.deltaX;
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        const part = Math.min(1, Math.max(0, (event.clientX - left) / width));
        onZoom(Math.exp(event.deltaY / 300), view.from + part * seen);
      } else if (sideways !== 0 && seen < 1) {
        event.preventDefault();
        onView(moved(view, view.from + (sideways / width) * seen));
      }
    };
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  }, [axis, grid, view, onView, onZoom]);
}
