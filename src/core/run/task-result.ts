import type { Message } from "../messages/message.ts";

/**
 * The result of a run (AutoGen `TaskResult`): everything it yielded except pieces of streamed text, and the reason why it
 * stopped, which is null for a single agent.
 */
export interface TaskResult {
  type: "TaskResult";
  messages: Message[];
  stop_reason: string | null;
}
