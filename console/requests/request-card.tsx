import { useEffect, useRef, useState } from "react";
import type { Answer, ListedRequest } from "troupe/client";
import { Link } from "wouter";
import { Name } from "../parts/name.tsx";
import { Ago } from "../parts/time.tsx";
import { visibleName } from "../text/foreign.ts";
import { Markdown } from "../text/markdown.tsx";
import { RequestForm } from "./request-form.tsx";

interface RequestCardProps {
  request: ListedRequest;
  /** False once it was answered, here or elsewhere, or has no effect any more. */
  open: boolean;
  /** The answer that the user gave on this page. */
  answer: Answer | undefined;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

/** A question with its team, the task, and what was said before it. Once it is closed, its card keeps its height. */
export function RequestCard({ request, open, answer, onAnswer }: RequestCardProps) {
  const { team_id, team_label, task, said, created_at, truncated } = request;
  const card = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const shown = card.current;
    if (!open || shown === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(shown.getBoundingClientRect().height));
    observer.observe(shown);
    return () => observer.disconnect();
  }, [open]);
  return (
    <div
      ref={card}
      className="card"
      data-open={open}
      style={open ? undefined : { minHeight: height }}
    >
      <p className="card-head muted">
        <Link href={`/teams/${team_id}`}>
          <Name name={team_label ?? team_id} />
        </Link>
        <Ago time={created_at} />
      </p>
      {task !== null && (
        <p className="card-task">
          <span className="muted">Task:</span> {visibleName(task)}
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
      {truncated && <p className="muted">This is cut for its size: the team has all of it.</p>}
      {open ? (
        <RequestForm request={request} onAnswer={onAnswer} />
      ) : (
        <p role="status">
          <Asked request={request} /> <strong>{outcomeOf(answer)}</strong>
        </p>
      )}
    </div>
  );
}

function Asked({ request: { source, tool_call, code } }: { request: ListedRequest }) {
  return (
    <>
      <Name name={source} /> {tool_call ? "asked to call " : code ? "asked to run code." : "asked."}
      {tool_call && (
        <code>
          <Name name={tool_call.name} />
        </code>
      )}
    </>
  );
}

function outcomeOf(answer: Answer | undefined): string {
  if (answer === undefined) return "Closed elsewhere.";
  if (answer.approved === undefined) return "Answered.";
  return answer.approved ? "Approved." : "Refused.";
}
