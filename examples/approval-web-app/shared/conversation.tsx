import type { Message } from "troupe/client";

/** The texts of a conversation. */
export function Conversation({ messages }: { messages: readonly Message[] }) {
  return messages.map((message) =>
    message.type === "TextMessage" ? (
      <p key={message.id}>
        <b>{message.source}:</b> {message.content}
      </p>
    ) : null,
  );
}
