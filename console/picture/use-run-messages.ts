import { useEffect, useMemo } from "react";
import type { Message } from "troupe/client";
import type { TeamView } from "troupe/react";

/** The most messages that are counted, from the end. */
const MOST = 5_000;

export interface RunMessages {
  /** Without the task. */
  messages: readonly Message[];
  /** True if the run has earlier messages that are not among them. */
  cut: boolean;
}

/** The messages of the team's last run. Earlier ones are loaded if they are missing, also after a reload. */
export function useRunMessages({ run, messages, hasEarlier, loadEarlier }: TeamView): RunMessages {
  const started = run?.started_at ?? undefined;
  const first = messages[0];
  const before = started !== undefined && first !== undefined && isBefore(first, started);
  const missing = started !== undefined && hasEarlier && !before;
  const count = messages.length;
  useEffect(() => {
    if (missing && count < MOST) loadEarlier().catch(() => undefined);
  }, [missing, count, loadEarlier]);
  const task = run?.task;
  const own = useMemo(() => {
    if (started === undefined) return [];
    const given = new Set(idsIn(task));
    return messages.filter((message) => !given.has(message.id) && !isBefore(message, started));
  }, [messages, started, task]);
  return { messages: own, cut: missing && count >= MOST };
}

function isBefore({ created_at }: Message, time: string): boolean {
  return Date.parse(created_at) < Date.parse(time);
}

function idsIn(task: unknown): string[] {
  const messages = Array.isArray(task) ? (task as { id?: unknown }[]) : [];
  return messages.map(({ id }) => id).filter((id) => typeof id === "string");
}
