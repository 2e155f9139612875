import { ConnectionError } from "troupe/client";

interface FailureProps {
  error: Error;
  onRetry: () => void;
}

/** Why something cannot be shown, and another attempt. */
export function Failure({ error, onRetry }: FailureProps) {
  const title =
    error instanceof ConnectionError ? "The server cannot be reached" : "This cannot be shown";
  return (
    <div className="empty" role="alert">
      <h1>{title}</h1>
      <p className="muted">{error.message}</p>
      <button className="button" type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
