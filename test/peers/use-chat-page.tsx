import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport, type UIMessage } from "ai";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";

/** The team of the chat, and the states of its last answer that React has rendered. */
interface Place {
  team: string;
  shown: string[];
}

const place = globalThis as unknown as Place;
place.team = new URLSearchParams(location.search).get("team") ?? "";
place.shown = [];

const chat = `/ai-sdk/teams/${place.team}/chat`;
const earlier = (await (await fetch(`${chat}/${place.team}/messages`)).json()) as {
  messages: UIMessage[];
};

function textOf({ parts }: UIMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

function Chat() {
  const { messages, status, error, sendMessage, regenerate } = useChat({
    id: place.team,
    messages: earlier.messages,
    resume: true,
    transport: new DefaultChatTransport({ api: chat }),
  });
  const last = messages.at(-1);
  const answer = last?.role === "assistant" ? textOf(last) : "";
  useEffect(() => {
    if (answer !== "") place.shown.push(answer);
  }, [answer]);
  return (
    <form data-status={error?.message ?? status}>
      {messages.map((message) => (
        <p key={message.id} data-role={message.role}>
          {textOf(message)}
        </p>
      ))}
      <button type="button" onClick={() => void sendMessage({ text: "Write." })}>
        Send
      </button>
      <button type="button" onClick={() => void regenerate()}>
        Again
      </button>
    </form>
  );
}

createRoot(document.querySelector("main") as HTMLElement).render(<Chat />);
