import { useEffect, useRef } from "react";
import UPlot from "uplot";
import { shortNumber } from "../parts/numbers.ts";
import type { Series } from "./groups.ts";

export interface PlotProps {
  days: readonly string[];
  series: readonly Series[];
  /** Called with the index of the day under the pointer. */
  onDay: (index: number | undefined) => void;
}

const HEIGHT = 240;
const DAY_S = 86_400;
const shortDay = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  timeZone: "UTC",
});

/** A stacked column for each day. The table has the same numbers. */
export function Plot({ days, series, onDay }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const colours = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    const probes = colours.current;
    if (element === null || probes === null) return undefined;
    const colourOf = (name: string): string => {
      const probe = probes.querySelector(`[data-colour="${name}"]`);
      return probe === null ? "" : getComputedStyle(probe).color;
    };
    const axis = {
      stroke: () => colourOf("text"),
      grid: { stroke: () => colourOf("line"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
    };
    const plot = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), "Etc/UTC"),
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        scales: {
          x: { time: true, range: (_, min, max) => [min - DAY_S / 2, max + DAY_S / 2] },
          y: { range: (_, __, max) => [0, max > 0 ? max * 1.05 : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 32,
            incrs: [1, 2, 7, 14, 28, 91].map((count) => count * DAY_S),
            values: (_, times) => times.map((time) => shortDay.format(time * 1_000)),
          },
          { ...axis, size: 60, values: (_, values) => values.map(shortNumber) },
        ],
        series: [
          {},
          ...series.map((_, index) => ({
            // The tallest series is drawn first, and the others cover its lower part.
            fill: () => colourOf(String(series.length - 1 - index)),
            width: 0,
            paths: UPlot.paths.bars?.({ size: [0.7, 56], radius: 0.08 }),
            points: { show: false },
          })),
        ],
        hooks: {
          setCursor: [({ cursor: { idx } }) => onDay(idx ?? undefined)],
        },
      },
      dataOf(days, series),
      element,
    );
    const resized = new ResizeObserver(([entry]) => {
      const width = Math.round(entry?.contentRect.width ?? 0);
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: HEIGHT });
    });
    resized.observe(element);
    const leave = onTheme(() => plot.redraw());
    return () => {
      leave();
      resized.disconnect();
      plot.destroy();
    };
  }, [days, series, onDay]);
  return (
    <div className="plot" aria-hidden>
      <div ref={colours} className="plot-colours">
        <i data-colour="text" />
        <i data-colour="line" />
        {series.map((_, index) => (
          <i key={index} data-colour={index} />
        ))}
      </div>
      <div ref={place} />
    </div>
  );
}

/** Seconds, and for each series from the last to the first the sum of it and all before it. */
function dataOf(days: readonly string[], series: readonly Series[]): UPlot.AlignedData {
  const sums: number[][] = [];
  let below = days.map(() => 0);
  for (const { amounts } of series) {
    below = below.map((sum, index) => sum + (amounts[index] ?? 0));
    sums.unshift(below);
  }
  return [days.map((day) => Date.parse(day) / 1_000), ...sums];
}

/** Calls back when the page changes between light and dark. */
function onTheme(changed: () => void): () => void {
  const media = matchMedia("(prefers-color-scheme: dark)");
  media.addEventListener("change", changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  return () => {
    media.removeEventListener("change", changed);
    observer.disconnect();
  };
}
