import type { TeamView } from "troupe/react";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Status } from "../parts/status.tsx";
import { useNotices } from "../shell/notices.tsx";

export interface RunBarProps {
  /** Without `retry`, the run is not the team's last one. */
  team: Pick<
    TeamView,
    "status" | "connected" | "error" | "queued" | "run" | "pause" | "resume" | "stop"
  > & { retry?: TeamView["retry"] | undefined };
}

/** A run's status and actions. */
export function RunBar({ team }: RunBarProps) {
  const { status, connected, error, queued, run } = team;
  const active = status === "running" || status === "waiting" || status === "paused";
  const pausing = status === "running" && run?.pause_requested === true;
  const lost = !connected && status !== "connecting";
  return (
    <div className="run-bar" role="group" aria-label="Run">
      <span aria-live="polite">
        {lost ? <span className="muted">Reconnecting</span> : <Status status={shownStatus(team)} />}
      </span>
      {!lost && status === "completed" && run?.stop_reason && (
        <span className="muted reason" title={run.stop_reason}>
          {run.stop_reason}
        </span>
      )}
      {!lost && queued.length > 0 && <span className="muted">{queued.length} queued</span>}
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
      {error && status === "failed" && (
        <p className="problem" role="alert">
          {error.message}
        </p>
      )}
    </div>
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
