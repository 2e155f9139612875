import type { Message } from "./message.ts";

/** Where in a task the conversation is handed to somebody, the last time; -1 when it is not. */
export function handedTo(task: readonly Message[], name: string): number {
  return task.findLastIndex(
    (message) => message.type === "HandoffMessage" && message.target === name,
  );
}
