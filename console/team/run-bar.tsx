import { reasonOf } from "../runs/failure-words.ts";
import type { TeamView } from "troupe/react";
import { Link } from "wouter";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { useNotices } from "../shell/notices.tsx";
import { useMay } from "../shell/access.tsx";

export interface RunBarProps {
  /** Without `retry`, the run is not the team's last one. */
  team: Pick<TeamView, "status" | "connected" | "queued" | "run" | "pause" | "resume" | "stop"> & {
    retry?: TeamView["retry"] | undefined;
  };
  /** The team whose header it is; undefined on the page of one run. */
  teamId?: string;
}

const ENDED: ReadonlySet<string> = new Set(["completed", "cancelled", "failed"]);

/** The status of a team with the outcome of its last run, or of one run, and what can be done about it. */
export function RunBar({ team, teamId }: RunBarProps) {
  const { status, connected, queued, run } = team;
  const mayWrite = useMay("runs:write");
  const active = status === "running" || status === "waiting" || status === "paused";
  const pausing = status === "running" && run?.pause_requested === true;
  const isLost = !connected && status !== "connecting" && status !== "unavailable";
  return (
    <div className="run-bar" role="group" aria-label={teamId === undefined ? "Run" : "Team status"}>
      <span aria-live="polite">
        {isLost ? (
          <Status status="reconnecting" />
        ) : teamId !== undefined && ENDED.has(status) ? (
          <Status status="idle" />
        ) : (
          <Status status={shownStatus(team)} />
        )}
      </span>
      {!isLost && teamId === undefined && status === "completed" && run?.stop_reason && (
        <span className="muted reason" title={run.stop_reason}>
          {run.stop_reason}
        </span>
      )}
      {!isLost && teamId !== undefined && run && ENDED.has(status) && (
        <LastRun teamId={teamId} run={run} />
      )}
      {!isLost && queued.length > 0 && <span className="muted">{queued.length} queued</span>}
      {mayWrite && (
        <span className="run-actions">
          {status === "paused" && <Do icon="play" name="Resume" action={team.resume} />}
          {pausing && <Do icon="play" name="Keep running" action={team.resume} />}
          {(status === "running" || status === "waiting") && !pausing && (
            <Do icon="pause" name="Pause" action={team.pause} />
          )}
          {active && run?.stop_requested !== "after_turn" && (
            <Do icon="stop" name="Stop after turn" action={() => team.stop("after_turn")} />
          )}
          {(active || status === "queued") && (
            <Do icon="close" name="Cancel now" action={() => team.stop("now")} />
          )}
          {(status === "failed" || status === "cancelled") && team.retry && (
            <Do icon="retry" name="Retry" action={team.retry} />
          )}
        </span>
      )}
    </div>
  );
}

/** The outcome of the last run of an idle team. */
function LastRun({ teamId, run }: { teamId: string; run: NonNullable<TeamView["run"]> }) {
  return (
    <Link
      className="last-run"
      data-status={run.status}
      href={`/teams/${teamId}/runs/${run.id}`}
      title={run.error ? reasonOf(run.error) : (run.stop_reason ?? undefined)}
    >
      Last run {run.status}
    </Link>
  );
}

/** A run that was asked to pause or stop says so at once, although its steps under way may take long. */
function shownStatus({ status, run }: RunBarProps["team"]): string {
  if (status !== "running") return status;
  if (run?.stop_requested === "after_turn") return "stopping";
  return run?.pause_requested === true ? "pausing" : status;
}

interface DoProps {
  icon: IconName;
  name: string;
  action: () => Promise<unknown>;
}

function Do({ icon, name, action }: DoProps) {
  const { attempt } = useNotices();
  return (
    <button
      className="button small"
      type="button"
      aria-label={name}
      title={name}
      onClick={() => void attempt(action)}
    >
      <Icon name={icon} />
      <span className="wide-only">{name}</span>
    </button>
  );
}
