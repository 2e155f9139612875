import type { ReactNode } from "react";
import type { Answer, ListedRequest } from "troupe/client";
import { Link } from "wouter";
import { OutcomeOfRequest } from "../answers/outcome.tsx";
import { useWholeTask } from "../answers/use-whole-task.ts";
import { Name } from "../parts/name.tsx";
import { Ago, Until } from "../parts/time.tsx";
import { useMay } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
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
  together?: ReactNode;
  onAnswer: (answer: Answer) => void;
  onUndo: () => void;
}

/** A question with its team, the task and the last message before it. Its card keeps its height when it is answered. */
export function RequestCard({ request, ...answering }: RequestCardProps) {
  const { open, delayed } = answering;
  const { team_id, team_label, run_id, task, said, created_at, expires_at, truncated } = request;
  const asking = open && (delayed === undefined || delayed.phase === "failed");
  const card = useCard(asking);
  const whole = useWholeTask(task, request);
  const mayRead = useMay("runs:read");
  const team = <Name name={team_label ?? team_id} />;
  return (
    <div {...card} className="card" data-open={asking}>
      <p className="card-head muted">
        {mayRead ? <Link href={`/teams/${team_id}`}>{team}</Link> : <span>{team}</span>}
        <span className="card-times">
          {open && expires_at !== null && (
            <span>
              Expires <Until time={expires_at} />
            </span>
          )}
          <Ago time={created_at} />
        </span>
      </p>
      <div className="card-context">
        {task !== null && <ShortText className="card-task" before="Task:" text={task} />}
        {said !== null && said.text !== task && (
          <details className="card-said">
            <summary>
              <span className="muted">
                <Name name={said.source} /> said:
              </span>{" "}
              <span className="said-line">{preview(said.text)}</span>
            </summary>
            <Markdown text={said.text} />
          </details>
        )}
      </div>
      {truncated && <p className="muted">Shortened. Open the team to see everything.</p>}
      <Answerable
        request={request}
        outcome={<OutcomeOfRequest request={request} asking={{ team_id, run_id }} />}
        task={whole}
        {...answering}
      />
    </div>
  );
}

/** More does not fit into a line of most windows. */
const LINE = 90;

function ShortText({ className, before, text }: Record<"className" | "before" | "text", string>) {
  const line = (
    <>
      <span className="muted">{before}</span> <span className="said-line">{preview(text)}</span>
    </>
  );
  if (text.length <= LINE && !text.includes("\n")) return <p className={className}>{line}</p>;
  return (
    <details className={className}>
      <summary>{line}</summary>
      <p>{visibleName(text)}</p>
    </details>
  );
}
