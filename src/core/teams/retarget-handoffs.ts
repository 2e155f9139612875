import type { ChatMessage } from "../messages/message.ts";

/**
 * Messages as the next speaker of a team gets them: a handoff to the team becomes a handoff to that speaker. So a human
 * in the team can hand back to the sender, and an inner team sees a handoff to its own name.
 */
export function retargetHandoffs(
  messages: readonly ChatMessage[],
  { to, by }: { to: string; by: string },
): ChatMessage[] {
  return messages.map((message) =>
    message.type === "HandoffMessage" && message.target === to
      ? { ...message, target: by }
      : message,
  );
}
