import { memo } from "react";
import { colourOf } from "../parts/name.tsx";
import { backoffsIn, type TimelineStep } from "./steps.ts";
import { placeOf, type TimeScale, type View, within } from "./time-scale.ts";
import { agentOf } from "./words.ts";

interface BarsProps {
  step: TimelineStep;
  /** True if the inner steps have their own rows. */
  open: boolean | undefined;
  scale: TimeScale;
  view: View;
}

/** The most parts of a folded turn that are drawn. */
const MOST = 60;

/** The bar of a step with the waits between its attempts and, for a folded turn, of the steps inside. */
export const Bars = memo(function Bars({ step, open, scale, view }: BarsProps) {
  const inner = open === false && step.span.kind === "turn" ? step.leaves.slice(0, MOST) : [];
  return (
    <div className="bars" aria-hidden>
      <Bar step={step} scale={scale} view={view} hollow={inner.length > 0} />
      {[...inner, ...[step, ...inner].flatMap(backoffsIn)].map((one) => (
        <Bar key={one.span.span_id} step={one} scale={scale} view={view} />
      ))}
    </div>
  );
});

interface BarProps {
  step: TimelineStep;
  scale: TimeScale;
  view: View;
  hollow?: boolean;
}

function Bar({ step, scale, view, hollow = false }: BarProps) {
  const { span, start, end, parent } = step;
  const isDone = span.kind === "attempt" && span.status !== "error";
  const agent = agentOf(step);
  const from = within(view, placeOf(scale, start));
  const to = within(view, placeOf(scale, end ?? scale.end));
  if (to < 0 || from > 1) return null;
  // Clip a bar that is much wider than the window.
  const left = Math.max(from, -0.5);
  const width = Math.max(0, Math.min(to, 1.5) - left);
  return (
    <span
      className="bar"
      data-kind={isDone ? parent?.span.kind : span.kind}
      data-status={span.status}
      data-recovered={span.recovered || undefined}
      data-colour={agent === undefined ? undefined : colourOf(agent)}
      data-hollow={hollow || undefined}
      style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
    />
  );
}
