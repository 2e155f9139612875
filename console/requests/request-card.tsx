import type { Answer, ListedRequest } from "troupe/client";
import { Link } from "wouter";
import { Ago } from "../parts/time.tsx";
import { Approval } from "./approval.tsx";
import { Question } from "./question.tsx";

interface RequestCardProps {
  request: ListedRequest;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

/** An open question, with the way to its team. */
export function RequestCard({ request, onAnswer }: RequestCardProps) {
  const { kind, team_id, created_at, truncated } = request;
  return (
    <div className="card">
      <p className="card-head muted">
        <Link href={`/teams/${team_id}`}>Show the team</Link>
        <Ago time={created_at} />
      </p>
      {truncated && <p className="muted">This is cut for its size: the team has all of it.</p>}
      {kind === "approval" ? (
        <Approval request={request} onAnswer={onAnswer} />
      ) : (
        <Question request={request} onAnswer={onAnswer} />
      )}
    </div>
  );
}
