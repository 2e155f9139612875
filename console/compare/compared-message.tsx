import type { Message } from "troupe/client";
import { Avatar, Name } from "../parts/name.tsx";
import { tokensOf } from "../parts/numbers.ts";
import { MessageBody } from "../conversation/message-body.tsx";
import { ToolCalls } from "../conversation/tool-calls.tsx";
import { Markdown } from "../text/markdown.tsx";
import type { Said } from "./said.ts";
import { TextDiff } from "./text-diff.tsx";

interface ComparedMessageProps {
  said: Said;
  other: Said | undefined;
  side: "a" | "b";
  marked: boolean;
}

/** A message beside its counterpart in the other conversation. It is compared once both are complete. */
export function ComparedMessage({ said, other, side, marked }: ComparedMessageProps) {
  const { source, turn, message } = said;
  const text = message && textOf(message);
  const otherText = other?.message && textOf(other.message);
  return (
    <article className="compared-message" aria-busy={message === undefined}>
      <header>
        <Avatar source={source} />
        <strong>
          <Name name={source} />
        </strong>
        {turn !== undefined && <span className="muted">turn {turn}</span>}
        {message?.models_usage && <span className="muted">{tokensOf(message.models_usage)}</span>}
        {otherText !== undefined && text === otherText && <span className="mark">the same</span>}
        {message === undefined && <span className="writing">writing</span>}
      </header>
      {message === undefined ? (
        <Markdown text={said.text} growing />
      ) : marked && text !== undefined && otherText !== undefined && text !== otherText ? (
        <TextDiff text={text} other={otherText} side={side} />
      ) : (
        <Body message={message} />
      )}
    </article>
  );
}

function Body({ message }: { message: Message }) {
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
function textOf({ content }: Message & { content?: unknown }): string | undefined {
  if (typeof content === "string") return content;
  return content === undefined ? undefined : JSON.stringify(content, null, 2);
}
