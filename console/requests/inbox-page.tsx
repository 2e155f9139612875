import { useInbox } from "troupe/react";
import { Failure } from "../parts/failure.tsx";
import { RequestCard } from "./request-card.tsx";

export function InboxPage() {
  const { status, requests, error, hasMore, answer, loadMore, reload } = useInbox();
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
      {status === "open" && requests.length === 0 && (
        <div className="empty">
          <h2>Nobody waits for you</h2>
          <p className="muted">
            Questions of agents and calls that need an approval appear here, from all teams.
          </p>
        </div>
      )}
      <ul className="requests" aria-label="Open questions">
        {requests.map((request) => (
          <li key={`${request.team_id} ${request.id}`}>
            <RequestCard request={request} onAnswer={(given) => answer(request, given)} />
          </li>
        ))}
      </ul>
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
    </div>
  );
}
