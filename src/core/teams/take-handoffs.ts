import type { ChatMessage } from "../messages/message.ts";

/**
 * Messages as a team's member hears them: whoever speaks next takes the handoffs to the team as a whole. So a human in it
 * answers to who handed over, and a team in it is handed to by its own name.
 */
export function takeHandoffs(
  messages: readonly ChatMessage[],
  { to, by }: { to: string; by: string },
): ChatMessage[] {
  return messages.map((message) =>
    message.type === "HandoffMessage" && message.target === to
      ? { ...message, target: by }
      : message,
  );
}
