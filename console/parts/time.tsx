import { useEffect, useState } from "react";

const STEPS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });

function ago(seconds: number): string {
  const [unit, size] = STEPS.find(([, length]) => seconds >= length) ?? [undefined, 1];
  return unit === undefined ? "just now" : relative.format(-Math.floor(seconds / size), unit);
}

/** How long ago a time was; the exact one when pointed at. */
export function Ago({ time }: { time: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  const date = new Date(time);
  return (
    <time dateTime={time} title={exact.format(date)}>
      {ago((now - date.getTime()) / 1000)}
    </time>
  );
}

/** The time of day; the date, too, when pointed at. */
export function Clock({ time }: { time: string }) {
  const date = new Date(time);
  return (
    <time dateTime={time} title={exact.format(date)}>
      {clock.format(date)}
    </time>
  );
}
