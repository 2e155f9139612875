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

/** A relative time, with the exact one on hover. */
export function Ago({ time }: { time: string }) {
  const now = useNow(30_000);
  const date = new Date(time);
  return (
    <time dateTime={time} title={exact.format(date)}>
      {ago((now - date.getTime()) / 1000)}
    </time>
  );
}

/** `in 3 min 20 s`, with the exact time on hover. */
export function Until({ time }: { time: string }) {
  const date = new Date(time);
  const now = useNow(1_000);
  const left = date.getTime() - now;
  return (
    <time dateTime={time} title={exact.format(date)}>
      {left <= 0 ? "now" : `in ${durationOf(Math.ceil(left / 1_000) * 1_000)}`}
    </time>
  );
}

/** The time of day, with the date on hover. */
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

/** A duration. @param to null while it is not over */
export function Elapsed({ from, to }: { from: string; to: string | null }) {
  const now = useNow(to === null ? 1_000 : null);
  const end = to === null ? now : Date.parse(to);
  return <>{durationOf(end - Date.parse(from))}</>;
}
