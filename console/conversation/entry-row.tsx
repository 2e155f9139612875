import { memo } from "react";
import { CardRow } from "./card-row.tsx";
import type { ConversationEntry, Work } from "./entries.ts";
import type { Doing } from "./live.ts";
import { MessageActions } from "./message-actions.tsx";
import { MessageBody } from "./message-body.tsx";
import type { CardNumbers } from "./numbers.ts";
import { RunEnd } from "./run-end.tsx";

interface EntryRowProps {
  entry: ConversationEntry;
  teamId: string;
  /** The models, tokens and times of a card. */
  numbers?: CardNumbers | undefined;
  /** The present activity of the card's agent. */
  doing?: Doing | undefined;
  /** The lead of the server's clock, in milliseconds. */
  ahead: number;
  /** The pause or cancellation that follows this step or turn. */
  soon: string | undefined;
  /** Retries the team's last run. */
  onRetry?: (() => Promise<unknown>) | undefined;
}

/** One entry of the conversation. It renders again only if it has changed. */
export const EntryRow = memo(function EntryRow(props: EntryRowProps) {
  const { entry, teamId, onRetry } = props;
  switch (entry.kind) {
    case "event":
      return (
        <div className="entry event">
          <MessageBody message={entry.message} />
        </div>
      );
    case "end":
      return <RunEnd end={entry.end} teamId={teamId} onRetry={onRetry} />;
    case "card":
      return (
        <CardRow
          {...props}
          card={entry}
          actions={entry.answer && <MessageActions message={entry.answer} teamId={teamId} />}
        />
      );
  }
}, sameRow);

function sameRow(last: EntryRowProps, next: EntryRowProps): boolean {
  if (last.teamId !== next.teamId || last.onRetry !== next.onRetry) return false;
  if (last.doing !== next.doing || (next.doing && last.soon !== next.soon)) return false;
  if (!sameNumbers(last.numbers, next.numbers)) return false;
  const [a, b] = [last.entry, next.entry];
  if (a === b) return true;
  if (a.kind === "end" && b.kind === "end") return a.end === b.end;
  if (a.kind === "event" && b.kind === "event") return a.message === b.message;
  if (a.kind !== "card" || b.kind !== "card") return false;
  return (
    a.answer === b.answer &&
    a.printed === b.printed &&
    a.text?.content === b.text?.content &&
    a.work.length === b.work.length &&
    a.work.every((work, index) => sameWork(work, b.work[index]))
  );
}

function sameWork(a: Work, b: Work | undefined): boolean {
  if (a.message !== b?.message) return false;
  if (a.kind !== "tools" || b.kind !== "tools") return true;
  return a.calls.every(({ result }, index) => result === b.calls[index]?.result);
}

function sameNumbers(a: CardNumbers | undefined, b: CardNumbers | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.ms === b.ms && a.cost === b.cost && total(a) === total(b);
}

function total({ tokens }: CardNumbers): number {
  return (tokens?.prompt_tokens ?? 0) + (tokens?.completion_tokens ?? 0);
}
