import type { ThreadMessage } from "troupe/client";
import { Name } from "../parts/name.tsx";
import { Cards, messagesIn } from "../conversation/entries.ts";
import { MessageBody } from "../conversation/message-body.tsx";
import { ToolCallBody, ToolCalls } from "../conversation/tool-calls.tsx";
import type { Recorded } from "./recorded.ts";
import type { TimelineStep } from "./steps.ts";

interface RecordedContentsProps {
  step: TimelineStep;
  recorded: Recorded;
}

/** The reply of a model, the arguments and result of a tool, or the messages of an agent. */
export function RecordedContents({ step, recorded }: RecordedContentsProps) {
  const { said, call } = recorded;
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
      <h4>{kind === "chat" ? "Reply" : "Said"}</h4>
      <Messages messages={said} />
    </div>
  );
}

function absence(kind: string, status: string): string {
  if (["attempt", "backoff", "recovery", "queue"].includes(kind)) return "";
  if (status === "error" || status === "cancelled")
    return "No content was recorded, because the step failed or was cancelled.";
  if (status === "running") return "No content yet.";
  return "The conversation has no messages of this step.";
}

function Messages({ messages }: { messages: readonly ThreadMessage[] }) {
  return (
    <ul className="recorded-messages">
      {new Cards(messages).entries.map((entry) => (
        <li key={entry.key}>
          {messagesIn(entry).length > 0 && (
            <strong>
              <Name name={messagesIn(entry)[0]?.source ?? ""} />
            </strong>
          )}
          {entry.kind === "event" && <MessageBody message={entry.message} inCard />}
          {entry.kind === "card" &&
            entry.work.map((work) =>
              work.kind === "tools" ? (
                <ToolCalls key={work.key} calls={work.calls} />
              ) : (
                <MessageBody key={work.key} message={work.message} inCard />
              ),
            )}
          {entry.kind === "card" && entry.answer && <MessageBody message={entry.answer} inCard />}
        </li>
      ))}
    </ul>
  );
}
