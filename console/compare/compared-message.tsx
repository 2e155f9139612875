import type { ThreadMessage } from "troupe/client";
import { Avatar, Name } from "../parts/name.tsx";
import { tokensOf } from "../parts/numbers.ts";
import { MessageBody } from "../conversation/message-body.tsx";
import { ToolCalls } from "../conversation/tool-calls.tsx";
import { TextDiff } from "./text-diff.tsx";

interface ComparedMessageProps {
  message: ThreadMessage;
  other: ThreadMessage | undefined;
  side: "a" | "b";
  marked: boolean;
}

/** A message beside its counterpart in the other conversation. */
export function ComparedMessage({ message, other, side, marked }: ComparedMessageProps) {
  const text = textOf(message);
  const otherText = other && textOf(other);
  return (
    <article className="compared-message">
      <header>
        <Avatar source={message.source} />
        <strong>
          <Name name={message.source} />
        </strong>
        <span className="muted">turn {message.turn}</span>
        {message.models_usage && <span className="muted">{tokensOf(message.models_usage)}</span>}
        {otherText !== undefined && text === otherText && <span className="mark">the same</span>}
      </header>
      {marked && text !== undefined && otherText !== undefined && text !== otherText ? (
        <TextDiff text={text} other={otherText} side={side} />
      ) : (
        <Body message={message} />
      )}
    </article>
  );
}

function Body({ message }: { message: ThreadMessage }) {
  const { source } = message;
  if (message.type === "ToolCallRequestEvent") {
    const calls = message.content.map((call) => ({ call, result: undefined }));
    return <ToolCalls calls={calls} source={source} />;
  }
  if (message.type === "ToolCallExecutionEvent") {
    const calls = message.content.map((result) => ({
      call: { id: result.call_id, name: result.name, arguments: "" },
      result,
    }));
    return <ToolCalls calls={calls} source={source} />;
  }
  return <MessageBody message={message} />;
}

/** The text of a message, if it can be compared word by word. */
function textOf({ content }: ThreadMessage & { content?: unknown }): string | undefined {
  if (typeof content === "string") return content;
  return content === undefined ? undefined : JSON.stringify(content, null, 2);
}
