import { memo } from "react";
import { Icon } from "../parts/icon.tsx";
import { Avatar } from "../parts/name.tsx";
import { costOf, durationOf, shortNumber } from "../parts/numbers.ts";
import { Bars } from "./bars.tsx";
import type { Row } from "./rows.ts";
import type { TimeScale, View } from "./time-scale.ts";
import { ICONS, marksOf, nameOf, sentenceOf } from "./words.ts";

interface TimelineRowProps {
  row: Row;
  id: string;
  /** The row's index from 1, including the header row. */
  index: number;
  active: boolean;
  /** True if its details are shown. */
  chosen: boolean;
  top: number;
  scale: TimeScale;
  view: View;
  onFold: (row: Row) => void;
  onChoose: (row: Row) => void;
}

export const TimelineRow = memo(function TimelineRow(props: TimelineRowProps) {
  const { row, id, index, active, chosen, top, scale, view, onFold, onChoose } = props;
  const { step, level, open, place, siblings } = row;
  const { span } = step;
  const marks = marksOf(step);
  return (
    <div
      role="row"
      id={id}
      className="timeline-row"
      aria-level={level}
      aria-expanded={open}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-rowindex={index}
      aria-selected={chosen}
      data-active={active}
      data-kind={span.kind}
      data-status={span.status}
      style={{ transform: `translateY(${top}px)` }}
      onClick={() => onChoose(row)}
    >
      <span role="gridcell" className="step-name" style={{ paddingLeft: (level - 1) * 14 }}>
        <span
          className="step-fold"
          data-open={open}
          aria-hidden
          onClick={(event) => {
            if (open === undefined) return;
            event.stopPropagation();
            onFold(row);
          }}
        >
          {open !== undefined && <Icon name="right" />}
        </span>
        {span.kind === "invoke_agent" && span.agent !== null ? (
          <Avatar source={span.agent} />
        ) : (
          <Icon name={ICONS[span.kind]} />
        )}
        <span className="step-title">{nameOf(step)}</span>
        {marks.map((mark) => (
          <span key={mark} className="mark" data-bad={span.status === "error" || undefined}>
            {mark}
          </span>
        ))}
        {step.troubled && span.status === "ok" && marks.length === 0 && (
          <span className="mark" data-bad title="Contains a failed step">
            <Icon name="warning" />
            <span className="hidden">Contains a failed step</span>
          </span>
        )}
      </span>
      <span role="gridcell" className="number">
        {durationOf((step.end ?? scale.end) - step.start)}
      </span>
      <span role="gridcell" className="number muted">
        {step.tokens > 0 && shortNumber(step.tokens)}
      </span>
      <span role="gridcell" className="number muted">
        {step.cost !== null && costOf(step.cost)}
      </span>
      <span role="gridcell" className="bar-cell">
        <span className="hidden">{sentenceOf(step, scale.start, scale.end)}</span>
        <Bars step={step} open={open} scale={scale} view={view} />
      </span>
    </div>
  );
});
