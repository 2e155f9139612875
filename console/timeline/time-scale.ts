import type { Interval } from "./steps.ts";

/** A part of the time with a constant scale. Times are epoch milliseconds. */
interface Piece extends Interval {
  /** Its start and length, as fractions of the whole. */
  at: number;
  width: number;
  /** True for a shortened wait. */
  short: boolean;
}

/** The positions of times: 0 is the beginning, 1 the end. Never empty. */
export interface TimeScale {
  start: number;
  end: number;
  pieces: readonly Piece[];
  /** Milliseconds that are drawn to scale. */
  drawn: number;
}

/** Waits are shortened if they are longer than this fraction of everything else. */
const LONG = 0.15;
const LONG_MS = 500;
/** The drawn length of a shortened wait, and of all of them together, as fractions of everything else. */
const SHORT = 0.06;
const ALL_SHORT = 0.35;

/** @param busy the periods with work @param shorten whether long waits are shortened */
export function timeScale(
  start: number,
  end: number,
  busy: readonly Interval[],
  shorten: boolean,
): TimeScale {
  const last = Math.max(end, start + 1);
  const waits = shorten ? longWaits(start, last, busy) : [];
  const waited = waits.reduce((sum, { from, to }) => sum + to - from, 0);
  const drawn = last - start - waited;
  const short = Math.min(SHORT * drawn, (ALL_SHORT * drawn) / Math.max(1, waits.length));
  const total = drawn + short * waits.length;
  const pieces: Piece[] = [];
  let at = 0;
  const add = (from: number, to: number, ms: number, isShort: boolean): void => {
    if (to <= from) return;
    pieces.push({ from, to, at, width: ms / total, short: isShort });
    at += ms / total;
  };
  let from = start;
  for (const wait of waits) {
    add(from, wait.from, wait.from - from, false);
    add(wait.from, wait.to, short, true);
    from = wait.to;
  }
  add(from, last, last - from, false);
  return { start, end: last, pieces, drawn };
}

/** No wait is shortened if there was no work. */
function longWaits(start: number, end: number, busy: readonly Interval[]): Interval[] {
  const quiet: Interval[] = [];
  let from = start;
  for (const interval of busy) {
    if (interval.from > from) quiet.push({ from, to: Math.min(interval.from, end) });
    from = Math.max(from, interval.to);
    if (from >= end) break;
  }
  if (from < end) quiet.push({ from, to: end });
  const waited = quiet.reduce((sum, { from: begin, to }) => sum + to - begin, 0);
  const working = end - start - waited;
  const shortest = Math.max(LONG * working, LONG_MS);
  const long = quiet.filter(({ from: begin, to }) => to - begin > shortest);
  const left = end - start - long.reduce((sum, { from: begin, to }) => sum + to - begin, 0);
  return left > 0 ? long : [];
}

/** The position of a time. */
export function placeOf({ pieces }: TimeScale, time: number): number {
  const piece = pieces[lastIndex(pieces, ({ from }) => from <= time)];
  if (piece === undefined) return 0;
  const part = Math.min(1, (time - piece.from) / (piece.to - piece.from));
  return piece.at + piece.width * part;
}

/** The index of the last piece that matches a predicate, or 0. Matching pieces come first. */
function lastIndex(pieces: readonly Piece[], holds: (piece: Piece) => boolean): number {
  let low = 0;
  let high = pieces.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const piece = pieces[middle];
    if (piece !== undefined && holds(piece)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The visible part of the scale: 0 to 1 is everything. */
export interface View {
  from: number;
  to: number;
}

export const WHOLE: View = { from: 0, to: 1 };

/** The shortest time that fills the timeline. */
const CLOSEST_MS = 5;

/** @param factor below 1 shows less @param at the position that stays fixed */
export function zoomed(view: View, factor: number, at: number, scale: TimeScale): View {
  const width = Math.min(1, Math.max((view.to - view.from) * factor, CLOSEST_MS / scale.drawn));
  const part = (at - view.from) / (view.to - view.from);
  return moved({ from: 0, to: width }, at - width * part);
}

/** The same width from `from`, within the bounds. */
export function moved(view: View, from: number): View {
  const width = view.to - view.from;
  const begin = Math.min(Math.max(0, from), 1 - width);
  return { from: begin, to: begin + width };
}

/** A position within the view, as a fraction of its width. */
export function within({ from, to }: View, place: number): number {
  return (place - from) / (to - from);
}

export interface Tick {
  /** Milliseconds after the beginning. */
  after: number;
  /** The position as a fraction of the view. */
  at: number;
}

const TICK_PX = 84;
const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000, 60_000, 120_000, 300_000,
  600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 43_200_000, 86_400_000, 172_800_000,
  604_800_000,
];

/** Round times in the view, at readable distances. @param px its width */
export function ticks(scale: TimeScale, view: View, px: number): Tick[] {
  const wanted = (scale.drawn * (view.to - view.from) * TICK_PX) / Math.max(px, 1);
  const step = STEPS_MS.find((ms) => ms >= wanted) ?? 604_800_000;
  const found: Tick[] = [];
  let next = -Infinity;
  for (const piece of piecesIn(scale, view)) {
    if (piece.short) continue;
    const first = Math.max(piece.from, timeAt(piece, view.from)) - scale.start;
    const last = Math.min(piece.to, timeAt(piece, view.to)) - scale.start;
    for (let after = Math.ceil(first / step) * step; after <= last; after += step) {
      const at = within(view, placeOf(scale, scale.start + after));
      if (at * px < next) continue;
      found.push({ after, at });
      next = at * px + TICK_PX * 0.8;
    }
  }
  return found;
}

function timeAt({ from, to, at, width }: Piece, place: number): number {
  return from + ((place - at) / width) * (to - from);
}

/** The visible pieces. */
export function piecesIn({ pieces }: TimeScale, view: View): readonly Piece[] {
  const first = lastIndex(pieces, ({ at }) => at <= view.from);
  const end = pieces.findIndex(({ at }, index) => index > first && at > view.to);
  return pieces.slice(first, end === -1 ? undefined : end);
}
