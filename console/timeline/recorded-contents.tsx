import type { ThreadMessage } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { entriesOf } from "../conversation/entries.ts";
import { MessageBody } from "../conversation/message-body.tsx";
import { ToolCallBody, ToolCalls } from "../conversation/tool-calls.tsx";
import type { Recorded } from "./recorded.ts";
import type { Step } from "./steps.ts";

interface RecordedContentsProps {
  step: Step;
  recorded: Recorded;
}

/** What a model was sent and replied, what a tool was given and gave, what an agent said. */
export function RecordedContents({ step, recorded }: RecordedContentsProps) {
  const { before, said, call } = recorded;
  const { kind, status } = step.span;
  if (call !== undefined) {
    return (
      <div className="recorded">
        <ToolCallBody call={call.call} result={call.result} />
      </div>
    );
  }
  if (said.length === 0) return <p className="muted">{absence(kind, status)}</p>;
  return (
    <div className="recorded">
      {before.length > 0 && (
        <details>
          <summary>Request: its last {before.length} messages</summary>
          <Messages messages={before} />
        </details>
      )}
      <h4>{kind === "chat" ? "Reply" : "Said"}</h4>
      <Messages messages={said} />
    </div>
  );
}

function absence(kind: string, status: string): string {
  if (kind === "attempt" || kind === "recovery" || kind === "queue") return "";
  if (status === "error" || status === "cancelled")
    return "Nothing is kept of what did not end well.";
  if (status === "running") return "It has said nothing yet.";
  return "The conversation has nothing of this step.";
}

function Messages({ messages }: { messages: readonly ThreadMessage[] }) {
  return (
    <ul className="recorded-messages">
      {entriesOf(messages).map((entry) => (
        <li key={entry.key}>
          {entry.kind === "tools" && (
            <ToolCalls calls={entry.calls} source={entry.message.source} />
          )}
          {entry.kind === "message" && (
            <>
              <strong>
                <Name name={entry.message.source} />
              </strong>
              <MessageBody message={entry.message} />
            </>
          )}
        </li>
      ))}
    </ul>
  );
}
