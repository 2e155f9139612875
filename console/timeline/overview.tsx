import { type PointerEvent, useMemo, useRef } from "react";
import { backoffsIn, type TimelineStep } from "./steps.ts";
import { moved, placeOf, type TimeScale, type View } from "./time-scale.ts";

interface OverviewProps {
  steps: readonly TimelineStep[];
  scale: TimeScale;
  view: View;
  onView: (view: View) => void;
}

/** Units of the drawing. */
const WIDTH = 1_000;
/** The shortest drag. A shorter movement is a click. */
const LEAST = 0.006;

/** The whole run with the visible part marked. Drag to show a part, click to move there. The keyboard can zoom too. */
export function Overview({ steps, scale, view, onView }: OverviewProps) {
  const from = useRef<number>(undefined);
  const paths = useMemo(() => pathsOf(steps, scale), [steps, scale]);
  const placeAt = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / width));
  };
  return (
    <div
      className="overview"
      aria-hidden
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        from.current = placeAt(event);
      }}
      onPointerMove={(event) => {
        if (from.current === undefined) return;
        const to = placeAt(event);
        if (Math.abs(to - from.current) < LEAST) return;
        onView({ from: Math.min(from.current, to), to: Math.max(from.current, to) });
      }}
      onPointerUp={(event) => {
        const begin = from.current;
        from.current = undefined;
        if (begin === undefined || Math.abs(placeAt(event) - begin) >= LEAST) return;
        onView(moved(view, begin - (view.to - view.from) / 2));
      }}
    >
      <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none">
        {[...paths].map(([kind, path]) => (
          <path key={kind} className="overview-part" data-kind={kind} d={path} />
        ))}
      </svg>
      {(view.from > 0 || view.to < 1) && (
        <span
          className="overview-view"
          style={{ left: `${view.from * 100}%`, width: `${(view.to - view.from) * 100}%` }}
        />
      )}
    </div>
  );
}

/** The bars of each kind, without those that would overlap others. */
function pathsOf(steps: readonly TimelineStep[], scale: TimeScale): Map<string, string> {
  const paths = new Map<string, string>();
  const last = new Map<string, number>();
  const draw = (kind: string, start: number, end: number): void => {
    const left = Math.round(placeOf(scale, start) * WIDTH);
    const right = Math.max(left + 1, Math.round(placeOf(scale, end) * WIDTH));
    if (right <= (last.get(kind) ?? -1)) return;
    last.set(kind, right);
    paths.set(kind, `${paths.get(kind) ?? ""}M${left} 0H${right}V10H${left}Z`);
  };
  for (const step of steps) {
    const { kind, status } = step.span;
    if (kind === "recovery") draw(kind, step.start, step.end ?? scale.end);
    for (const leaf of step.leaves) {
      draw(leaf.span.kind, leaf.start, leaf.end ?? scale.end);
      for (const wait of backoffsIn(leaf)) draw("backoff", wait.start, wait.end ?? scale.end);
    }
    if (status === "error") draw("attempt", step.start, step.end ?? scale.end);
  }
  return paths;
}
