import type { ChatMessage, Message } from "../messages/message.ts";

/** Where in a task the conversation is handed to a team by its name, the last time; -1 when it is not. */
export function handedToTeam(task: readonly Message[], team: string): number {
  return task.findLastIndex(
    (message) => message.type === "HandoffMessage" && message.target === team,
  );
}

/** What of a task a team's conditions see: handoffs on the way to the team were between others. */
export function withoutHandoffsOfOthers(
  task: readonly ChatMessage[],
  team: string,
): readonly ChatMessage[] {
  const index = handedToTeam(task, team);
  return task.filter((message, place) => place >= index || message.type !== "HandoffMessage");
}

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
