import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { Name } from "../parts/name.tsx";
import { FailedBecause } from "../runs/failed-because.tsx";
import { useNotices } from "../shell/notices.tsx";
import { useFramedTeam } from "../team/framed-team.ts";
import { visibleName } from "../text/foreign.ts";
import type { EndedRun } from "./entries.ts";
import { IfMay } from "../shell/access.tsx";

interface RunEndProps {
  end: EndedRun;
  teamId: string;
  onRetry: (() => Promise<unknown>) | undefined;
}

/**
 * The mark after a run: content that its models did not get and, if it did not complete, the reason, the agent and the
 * attempts. The last run can be retried.
 */
export function RunEnd({ end, teamId, onRetry }: RunEndProps) {
  const { attempt } = useNotices();
  const { info } = useFramedTeam();
  const { run, next } = end;
  const isCut = run.status === "failed" || run.status === "cancelled";
  return (
    <div className="entry event">
      {run.notes?.map(({ agent, message }) => (
        <div className="run-end" role="note" key={`${agent} ${message}`}>
          <span>
            {agent === null ? "The team's model" : visibleName(agent)}: {visibleName(message)}
          </span>
        </div>
      ))}
      {isCut && (
        <div className="run-end" role="note" data-status={run.status}>
          <Icon name={run.status === "failed" ? "warning" : "stop"} />
          <div className="run-end-words">
            <p>
              <Reason end={end} />
            </p>
            <FailedBecause run={run} component={info?.component} />
          </div>
          <div className="buttons">
            <Link className="button quiet small" href={`/teams/${teamId}/runs/${run.id}`}>
              Timeline
            </Link>
            {next === undefined && onRetry && (
              <IfMay scopes={["runs:write"]}>
                <button
                  className="button small"
                  type="button"
                  onClick={() => void attempt(onRetry)}
                >
                  <Icon name="retry" />
                  Retry this run
                </button>
              </IfMay>
            )}
          </div>
        </div>
      )}
    </div>
  );
}

function Reason({ end: { run, interrupted, retried } }: { end: EndedRun }) {
  const after = retried ? " It was retried." : "";
  if (run.status !== "failed") {
    const words = interrupted
      ? "The run was interrupted by the next message."
      : "The run was cancelled.";
    return <>{`${words}${after} ${keptOf(run)}`}</>;
  }
  const { agent = null, attempts = null } = run.error ?? {};
  return (
    <>
      The run failed
      {agent !== null && (
        <>
          {" in "}
          <strong>
            <Name name={agent} />
          </strong>
        </>
      )}
      {attempts !== null && attempts > 1 && ` after ${attempts} attempts`}.{after} {keptOf(run)}
    </>
  );
}

/** The turns that were finished before: they stay in the conversation. */
function keptOf({ turns }: EndedRun["run"]): string {
  if (turns === 0) return "";
  return turns === 1 ? "Its finished turn is kept." : `Its ${turns} finished turns are kept.`;
}
