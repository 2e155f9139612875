export const STATUS_WORDS: Readonly<Record<string, string>> = {
  idle: "Idle",
  connecting: "Loading",
  reconnecting: "Reconnecting",
  unavailable: "Unavailable",
  queued: "Queued",
  running: "Running",
  pausing: "Pausing",
  stopping: "Stopping",
  waiting: "Waiting for you",
  paused: "Paused",
  completed: "Completed",
  cancelled: "Cancelled",
  failed: "Failed",
  pending: "Pending",
  delivered: "Delivered",
  embedding: "Embedding",
  ready: "Ready",
};

/** The status of a team or run: a word with a dot in its colour. */
export function Status({ status }: { status: string }) {
  return (
    <span className="status" data-status={status}>
      {STATUS_WORDS[status] ?? status}
    </span>
  );
}
