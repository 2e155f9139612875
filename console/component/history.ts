import { type ValuePath, valueAt } from "./value-path.ts";

/** Changes that can be undone, and done again. */
export interface History<T> {
  /** Oldest first. */
  past: readonly T[];
  now: T;
  /** The undone values, the last one first. */
  future: readonly T[];
}

const MOST_KEPT = 100;

export function begin<T>(now: T): History<T> {
  return { past: [], now, future: [] };
}

/** With a change. Typing on in a field belongs to the change before. */
export function changed<T>({ past, now }: History<T>, next: T): History<T> {
  const before = past.at(-1);
  const path = changedPath(now, next);
  if (path === undefined) return { past, now: next, future: [] };
  const continues =
    before !== undefined &&
    typeof valueAt(next, path) === "string" &&
    typeof valueAt(now, path) === "string" &&
    String(changedPath(before, now)) === String(path);
  return continues ? { past, now: next, future: [] } : followed({ past, now, future: [] }, next);
}

/** With a change that is one of its own, wherever it is. */
export function followed<T>({ past, now }: History<T>, next: T): History<T> {
  return { past: [...past, now].slice(-MOST_KEPT), now: next, future: [] };
}

export function undone<T>(history: History<T>): History<T> {
  const { past, now, future } = history;
  const before = past.at(-1);
  if (before === undefined) return history;
  return { past: past.slice(0, -1), now: before, future: [now, ...future] };
}

export function redone<T>(history: History<T>): History<T> {
  const { past, now, future } = history;
  const [next, ...rest] = future;
  if (next === undefined) return history;
  return { past: [...past, now], now: next, future: rest };
}

/** The innermost place around all differences; undefined if there are none. */
export function changedPath(a: unknown, b: unknown): ValuePath | undefined {
  if (a === b) return undefined;
  const both = [a, b].every((one) => typeof one === "object" && one !== null);
  if (!both || Array.isArray(a) !== Array.isArray(b)) return [];
  const [left, right] = [a, b] as { [key: string]: unknown }[];
  const keys = new Set([...Object.keys(left ?? {}), ...Object.keys(right ?? {})]);
  const found = [...keys].flatMap((key) => {
    const inner = changedPath(left?.[key], right?.[key]);
    return inner === undefined ? [] : [[Array.isArray(a) ? Number(key) : key, ...inner]];
  });
  return found.length === 0 ? undefined : found.length === 1 ? found[0] : [];
}
