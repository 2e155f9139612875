import type { Message } from "./message.ts";

/** The index of the last HandoffMessage in the task whose target is `name`; -1 without one. */
export function handedTo(task: readonly Message[], name: string): number {
  return task.findLastIndex(
    (message) => message.type === "HandoffMessage" && message.target === name,
  );
}
