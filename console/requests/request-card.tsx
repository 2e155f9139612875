import type { Answer, ListedRequest } from "troupe/client";
import { Link } from "wouter";
import { Ago } from "../parts/time.tsx";
import { RequestForm } from "./request-form.tsx";

interface RequestCardProps {
  request: ListedRequest;
  onAnswer: (answer: Answer) => Promise<unknown>;
}

/** An open question, with the way to its team. */
export function RequestCard({ request, onAnswer }: RequestCardProps) {
  const { team_id, created_at, truncated } = request;
  return (
    <div className="card">
      <p className="card-head muted">
        <Link href={`/teams/${team_id}`}>Show the team</Link>
        <Ago time={created_at} />
      </p>
      {truncated && <p className="muted">This is cut for its size: the team has all of it.</p>}
      <RequestForm request={request} onAnswer={onAnswer} />
    </div>
  );
}
