import type { Message } from "../messages/message.ts";

/**
 * What came of a run (AutoGen `TaskResult`): all it yielded but pieces of streamed text, and why it stopped, which
 * is null for a single agent.
 */
export interface TaskResult {
  type: "TaskResult";
  messages: Message[];
  stop_reason: string | null;
}
