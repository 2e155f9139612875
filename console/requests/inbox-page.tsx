import { useState } from "react";
import type { Answer } from "troupe/client";
import { useInbox } from "troupe/react";
import { Failure } from "../parts/failure.tsx";
import { RequestCard } from "./request-card.tsx";
import { useKept } from "./use-kept.ts";
import { useSteady } from "./use-steady.ts";

export function InboxPage() {
  const { status, requests, error, hasMore, answer, loadMore, reload } = useInbox();
  const cards = useKept(requests);
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answer>>(new Map());
  const steady = useSteady<HTMLUListElement>("page");
  if (status === "unavailable" && error) return <Failure error={error} onRetry={reload} />;
  return (
    <div className="page inbox">
      <header className="page-head">
        <h1>Inbox</h1>
      </header>
      {status === "connecting" && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      <ul className="requests" aria-label="Open questions" {...steady}>
        {cards.map(({ key, request, open }) => (
          <li key={key}>
            <RequestCard
              request={request}
              open={open && !answers.has(key)}
              answer={answers.get(key)}
              onAnswer={async (given) => {
                await answer(request, given);
                setAnswers((all) => new Map(all).set(key, given));
              }}
            />
          </li>
        ))}
      </ul>
      {status === "open" && requests.length === 0 && (
        <div className="empty">
          <h2>Nobody waits for you</h2>
          <p className="muted">
            Questions of agents and calls that need an approval appear here, from all teams.
          </p>
        </div>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}
