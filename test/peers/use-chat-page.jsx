import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { useEffect } from "react";
import { createRoot } from "react-dom/client";

const team = new URLSearchParams(location.search).get("team");
const chat = `/ai-sdk/teams/${team}/chat`;
const earlier = await fetch(`${chat}/${team}/messages`).then((response) => response.json());

/** The states of the last answer that React has rendered. */
globalThis.shown = [];

/** @param {{ parts: readonly { type: string, text?: string }[] }} message */
function textOf({ parts }) {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

/** A chat with the team, and what React has shown of it. */
function Chat() {
  const { messages, status, error, sendMessage, regenerate } = useChat({
    id: team,
    messages: earlier.messages,
    resume: true,
    transport: new DefaultChatTransport({ api: chat }),
  });
  const last = messages.at(-1);
  const answer = last?.role === "assistant" ? textOf(last) : "";
  useEffect(() => {
    if (answer !== "") globalThis.shown.push(answer);
  }, [answer]);
  return (
    <form data-status={error?.message ?? status}>
      {messages.map((message) => (
        <p key={message.id}>{textOf(message)}</p>
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

createRoot(document.querySelector("main")).render(<Chat />);
