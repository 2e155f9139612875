import { memo } from "react";
import { Avatar, Name } from "../parts/name.tsx";
import { tokensOf } from "../parts/numbers.ts";
import { Clock } from "../parts/time.tsx";
import { Thinking } from "../text/thinking.tsx";
import type { Entry } from "./entries.ts";
import { MessageActions } from "./message-actions.tsx";
import { isEvent, MessageBody } from "./message-body.tsx";
import { RunEnd } from "./run-end.tsx";
import { ToolCalls } from "./tool-calls.tsx";

interface EntryRowProps {
  entry: Entry;
  teamId: string;
  /** Retries the team's last run. */
  onRetry?: (() => Promise<unknown>) | undefined;
}

/** One entry of the conversation. It is rendered again only when it has changed. */
export const EntryRow = memo(function EntryRow({ entry, teamId, onRetry }: EntryRowProps) {
  switch (entry.kind) {
    case "tools":
      return (
        <div className="entry event">
          <ToolCalls calls={entry.calls} source={entry.message.source} />
        </div>
      );
    case "text":
      return (
        <article className="entry" data-continues={entry.continues} aria-busy="true">
          <Avatar source={entry.source} />
          <header>
            <strong>
              <Name name={entry.source} />
            </strong>
            <span className="writing">writing</span>
          </header>
          <div className="body">
            <Thinking text={entry.content} source={entry.source} />
          </div>
        </article>
      );
    case "end":
      return <RunEnd end={entry.end} onRetry={onRetry} />;
    case "message": {
      const { message, continues } = entry;
      if (isEvent(message)) {
        return (
          <div className="entry event">
            <MessageBody message={message} />
          </div>
        );
      }
      return (
        <article className="entry" data-continues={continues} data-user={message.source === "user"}>
          <Avatar source={message.source} />
          <header>
            <strong>
              <Name name={message.source} />
            </strong>
            <span className="muted">
              <Clock time={message.created_at} />
            </span>
            {message.models_usage && (
              <span className="muted usage">{tokensOf(message.models_usage)}</span>
            )}
            <MessageActions message={message} teamId={teamId} />
          </header>
          <div className="body">
            <MessageBody message={message} printed={entry.printed} />
          </div>
        </article>
      );
    }
  }
}, sameRow);

function sameRow(last: EntryRowProps, { entry: next, teamId }: EntryRowProps): boolean {
  const { entry } = last;
  if (last.teamId !== teamId || entry.kind !== next.kind) return false;
  if (entry.kind === "end" && next.kind === "end") return entry.end === next.end;
  if (entry.kind === "text" && next.kind === "text") {
    return entry.content === next.content && entry.continues === next.continues;
  }
  if (entry.kind === "message" && next.kind === "message") {
    const { printed, continues } = next;
    return (
      entry.message === next.message && entry.continues === continues && entry.printed === printed
    );
  }
  if (entry.kind === "tools" && next.kind === "tools") {
    const same = entry.calls.every(({ result }, index) => result === next.calls[index]?.result);
    return entry.message === next.message && same;
  }
  return false;
}
