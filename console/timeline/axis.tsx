import { memo } from "react";
import { durationOf } from "../parts/numbers.ts";
import { piecesIn, ticks, type TimeScale, type View, within } from "./time-scale.ts";

interface AxisProps {
  scale: TimeScale;
  view: View;
  px: number;
}

const LABEL_PX = 32;

/** The time since the beginning, with the real length of shortened waits. */
export const Axis = memo(function Axis({ scale, view, px }: AxisProps) {
  return (
    <div className="axis" aria-hidden>
      {shortened(scale, view, px).map(({ from, ms, left, width }) => (
        <span
          key={`wait ${from}`}
          className="shortened"
          style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
        >
          {width * px > LABEL_PX && durationOf(ms)}
        </span>
      ))}
      {ticks(scale, view, px).map(({ after, at }) => (
        <span key={after} className="tick" style={{ left: `${at * 100}%` }}>
          {after === 0 ? "0" : durationOf(after)}
        </span>
      ))}
    </div>
  );
});

/** The background of the rows: grid lines at round times, and shortened waits. */
export const Background = memo(function Background({ scale, view, px }: AxisProps) {
  return (
    <div className="timeline-ground" aria-hidden>
      <div className="bar-cell">
        {ticks(scale, view, px).map(({ after, at }) => (
          <span key={after} className="tick-line" style={{ left: `${at * 100}%` }} />
        ))}
        {shortened(scale, view, px).map(({ from, left, width }) => (
          <span
            key={`wait ${from}`}
            className="shortened"
            style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
          />
        ))}
      </div>
    </div>
  );
});

interface Shortened {
  from: number;
  ms: number;
  /** Positions as fractions of the view. */
  left: number;
  width: number;
}

/** The least width of a wait that gets a mark. */
const NARROWEST_PX = 3;

function shortened(scale: TimeScale, view: View, px: number): Shortened[] {
  return piecesIn(scale, view)
    .filter(({ short }) => short)
    .map(({ from, to, at, width }) => {
      const part = width / (view.to - view.from);
      return { from, ms: to - from, left: within(view, at), width: part };
    })
    .filter(({ width }) => width * px >= NARROWEST_PX);
}
