import type { Answer, ListedRequest } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { Ago, Until } from "../parts/time.tsx";
import { Markdown } from "../text/markdown.tsx";
import { preview } from "../text/preview.ts";
import { Answerable } from "./answerable.tsx";
import type { DelayedAnswer } from "./delayed-answers.ts";
import { useCard } from "./use-card.ts";

interface RequestCardProps {
  request: ListedRequest;
  /** False once it was answered, here or elsewhere, or is no longer needed. */
  open: boolean;
  /** The answer that the user gave on this page. */
  delayed: DelayedAnswer | undefined;
  onAnswer: (answer: Answer) => void;
  onUndo: () => void;
}

/** A question with its team, the task and the last message before it. Its card keeps its height when it is answered. */
export function RequestCard({ request, open, delayed, onAnswer, onUndo }: RequestCardProps) {
  const { team_id, team_label, task, said, created_at, expires_at, truncated } = request;
  const asking = open && (delayed === undefined || delayed.phase === "failed");
  const card = useCard(asking);
  return (
    <div {...card} className="card" data-open={asking}>
      <p className="card-head muted">
        <Link href={`/teams/${team_id}`}>
          <Name name={team_label ?? team_id} />
        </Link>
        <span className="card-times">
          {open && expires_at !== null && (
            <span>
              Expires <Until time={expires_at} />
            </span>
          )}
          <Ago time={created_at} />
        </span>
      </p>
      {task !== null && (
        <p className="card-task">
          <span className="muted">Task:</span> {preview(task)}
        </p>
      )}
      {said !== null && said.text !== task && (
        <blockquote className="card-said">
          <span className="muted">
            <Name name={said.source} /> said
          </span>
          <Markdown text={said.text} />
        </blockquote>
      )}
      {truncated && <p className="muted">Shortened. Open the team to see everything.</p>}
      <Answerable
        request={request}
        open={open}
        delayed={delayed}
        onAnswer={onAnswer}
        onUndo={onUndo}
      />
    </div>
  );
}
