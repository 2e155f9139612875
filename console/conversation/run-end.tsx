import { Icon } from "../parts/icon.tsx";
import { useNotices } from "../shell/notices.tsx";
import type { EndedRun } from "./use-ended-runs.ts";

interface RunEndProps {
  end: EndedRun;
  onRetry: (() => Promise<unknown>) | undefined;
}

/** The mark of a run that did not come to its end, with the reason; the last one can be retried. */
export function RunEnd({ end, onRetry }: RunEndProps) {
  const { attempt } = useNotices();
  const { run, next } = end;
  return (
    <div className="entry event">
      <div className="run-end" role="note" data-failed={run.status === "failed"}>
        <span>{reasonOf(end)}</span>
        {next === undefined && onRetry && (
          <button className="button small" type="button" onClick={() => void attempt(onRetry)}>
            <Icon name="retry" />
            Retry this run
          </button>
        )}
      </div>
    </div>
  );
}

function reasonOf({ run, interrupted, retried }: EndedRun): string {
  const after = retried ? " It was retried." : "";
  if (run.status === "failed")
    return `The run failed: ${run.error?.message ?? "no reason is known"}${after}`;
  return interrupted
    ? "The run was interrupted by the next message."
    : `The run was cancelled.${after}`;
}
