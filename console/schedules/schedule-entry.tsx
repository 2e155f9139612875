import type { ScheduleInfo } from "troupe/client";
import { Link } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Status } from "../parts/status.tsx";
import { Ago } from "../parts/time.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { visibleName } from "../text/foreign.ts";
import { OWN_TIME_ZONE, timeIn, wordsOf } from "./cron.ts";
import { summaryOfTask } from "./task.ts";

interface ScheduleActions {
  onRun: () => Promise<void>;
  onEnable: (enabled: boolean) => Promise<void>;
  onEdit: () => void;
  onDelete: () => void;
}

interface ScheduleEntryProps {
  schedule: ScheduleInfo;
  /** Undefined for users who may only read. */
  actions: ScheduleActions | undefined;
}

/** A schedule with its times and the result of its last run. */
export function ScheduleEntry({ schedule, actions }: ScheduleEntryProps) {
  const { cron, timezone, enabled, next_at, last_at, last_run, last_error, team_id } = schedule;
  const zone = timezone ?? OWN_TIME_ZONE;
  const when = cron === null ? "Once" : wordsOf(cron);
  const over = enabled && next_at === null;
  return (
    <li className="item">
      <div className="item-main">
        <p className="item-title">
          <strong>{when}</strong>
          {cron !== null && (
            <span className="muted">
              <code>{visibleName(cron)}</code> {zone}
            </span>
          )}
          {!enabled && <Status status="paused" />}
          {over && <span className="muted">Ended</span>}
        </p>
        <p className="item-text">{summaryOfTask(schedule.task)}</p>
        <p className="muted item-facts">
          {next_at !== null && <span>Next: {timeIn(new Date(next_at), zone)}</span>}
          {last_at !== null && (
            <span>
              Last: <Ago time={last_at} />
              {last_run !== null && (
                <>
                  , <Link href={`/teams/${team_id}/runs/${last_run}`}>run</Link>
                </>
              )}
            </span>
          )}
        </p>
        {last_error !== null && (
          <p className="item-problem">
            No run at {timeIn(new Date(last_error.scheduled_for), zone)}: {last_error.message}
          </p>
        )}
      </div>
      {actions && <Actions schedule={schedule} over={over} name={when} actions={actions} />}
    </li>
  );
}

interface ActionsProps {
  schedule: ScheduleInfo;
  over: boolean;
  name: string;
  actions: ScheduleActions;
}

function Actions({ schedule: { enabled }, over, name, actions }: ActionsProps) {
  const running = useButtonAction();
  const changing = useButtonAction();
  return (
    <div className="item-actions" role="group" aria-label={name}>
      <button
        className="button small"
        type="button"
        disabled={running.busy}
        aria-busy={running.busy}
        onClick={() => void running.run(actions.onRun)}
      >
        <Icon name="play" />
        Run now
      </button>
      {!over && (
        <button
          className="button small"
          type="button"
          disabled={changing.busy}
          aria-busy={changing.busy}
          onClick={() => void changing.run(() => actions.onEnable(!enabled))}
        >
          <Icon name={enabled ? "pause" : "calendar"} />
          {enabled ? "Pause" : "Resume"}
        </button>
      )}
      <IconButton icon="edit" name="Edit" onClick={actions.onEdit} />
      <IconButton icon="bin" name="Delete" onClick={actions.onDelete} />
    </div>
  );
}
