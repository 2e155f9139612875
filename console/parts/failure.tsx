import { useEffect, useRef } from "react";
import { ApiError, ConnectionError } from "troupe/client";

interface FailureProps {
  error: Error;
  onRetry: () => void;
}

const RETRY_MS = 2_000;

/**
 * The reason why a page cannot be loaded, with a button to try again. It tries again by itself while the server is away.
 */
export function Failure({ error, onRetry }: FailureProps) {
  const retry = useRef(onRetry);
  retry.current = onRetry;
  const isAway =
    error instanceof ConnectionError || (error instanceof ApiError && error.status >= 500);
  useEffect(() => {
    if (!isAway) return undefined;
    const timer = setInterval(() => retry.current(), RETRY_MS);
    return () => clearInterval(timer);
  }, [isAway]);
  const title =
    error instanceof ConnectionError
      ? "The server cannot be reached"
      : "This page cannot be loaded";
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
