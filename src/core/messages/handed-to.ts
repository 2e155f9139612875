import type { Message } from "./message.ts";

/** Index of a task's last handoff to a given target; -1 when there is none. */
export function handedTo(task: readonly Message[], name: string): number {
  return task.findLastIndex(
    (message) => message.type === "HandoffMessage" && message.target === name,
  );
}
