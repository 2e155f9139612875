import type { Message } from "./message.ts";

/** Metadata key of a handoff that only passes a conversation on: a human who gets it answers with a text. */
export const PASSES_ON = "passes_on";

/** The index of the last HandoffMessage in the task whose target is `name`; -1 without one. */
export function handedTo(task: readonly Message[], name: string): number {
  return task.findLastIndex(
    (message) => message.type === "HandoffMessage" && message.target === name,
  );
}
