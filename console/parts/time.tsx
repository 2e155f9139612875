import { durationOf } from "./numbers.ts";
import { useNow } from "../hooks/use-now.ts";

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
  const now = useNow(30_000);
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

/** A time on its day. */
export function Exact({ time }: { time: string }) {
  return <time dateTime={time}>{exact.format(new Date(time))}</time>;
}

/** How long something took, or is taking. @param to null while it goes on */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const now = useNow(to === null ? 1_000 : null);
  const end = to === null ? now : Date.parse(to);
  return <>{durationOf(end - Date.parse(from))}</>;
}
