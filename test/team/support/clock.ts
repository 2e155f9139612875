import { runDurableObjectAlarm } from "cloudflare:test";
import { vi } from "vitest";
import type { TestTeam } from "./team.ts";

/** Stops the clock at a time while `work` runs; timers are not affected. */
export async function atTime<T>(time: string | number, work: () => T | Promise<T>): Promise<T> {
  vi.setSystemTime(new Date(time));
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

/** The team's alarm rings at a time; returns whether one was set. */
export function ringAt(team: TestTeam, time: string | number): Promise<boolean> {
  return atTime(time, () => runDurableObjectAlarm(team.stub));
}
