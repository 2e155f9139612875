import { Empty } from "../parts/empty.tsx";
import { useCallback, useState } from "react";
import type { DirectoryChange, ScheduleInfo } from "troupe/client";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { useList } from "../hooks/use-list.ts";
import { useMay } from "../shell/access.tsx";
import { useGone, useNotices } from "../shell/notices.tsx";
import { useFramedTeam } from "../team/framed-team.ts";
import { wordsOf } from "./cron.ts";
import { ScheduleEntry } from "./schedule-entry.tsx";
import { ScheduleForm } from "./schedule-form.tsx";

const PAGE = 50;
/** Changes of runs, because schedules start runs. */
const KINDS: readonly DirectoryChange["kind"][] = ["run"];

/** The schedules of a team. */
export function SchedulesPage() {
  const { teamId, handle: team } = useFramedTeam();
  const load = useCallback(
    async (cursor: string | undefined) => {
      const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
      const { schedules: items, next_cursor: next } = await team.schedules(query);
      return { items, next };
    },
    [team],
  );
  const { value, error, reload, hasMore, loadMore } = useList(load, KINDS);
  const [form, setForm] = useState<ScheduleInfo | "new">();
  const { attempt, postpone, tell } = useNotices();
  const gone = useGone();
  const mayWrite = useMay("runs:write");
  const keyOf = ({ id, created_at }: ScheduleInfo): string =>
    `schedule ${teamId} ${created_at} ${id}`;

  const remove = (schedule: ScheduleInfo): void => {
    const when = schedule.cron === null ? "once" : wordsOf(schedule.cron);
    postpone({
      key: keyOf(schedule),
      text: `The schedule (${when}) was deleted.`,
      action: () => team.deleteSchedule(schedule.id),
    });
  };
  const change = (schedule: ScheduleInfo, enabled: boolean): Promise<void> =>
    attempt(async () => {
      await team.changeSchedule(schedule.id, { enabled });
      reload();
    });
  const run = ({ id }: ScheduleInfo): Promise<void> =>
    attempt(async () => {
      await team.runSchedule(id);
      tell("The run was started.");
      reload();
    });

  const schedules = value?.filter((schedule) => !gone.has(keyOf(schedule)));
  const create = (
    <button className="button primary" type="button" onClick={() => setForm("new")}>
      <Icon name="plus" />
      New schedule
    </button>
  );
  return (
    <div className="page">
      {mayWrite && schedules !== undefined && schedules.length > 0 && (
        <div className="page-tools">{create}</div>
      )}
      {value === undefined && error !== undefined && <Failure error={error} onRetry={reload} />}
      {value === undefined && error === undefined && (
        <p className="loading" role="status">
          Loading
        </p>
      )}
      {schedules?.length === 0 && (
        <Empty
          title="No schedules yet."
          text="A schedule gives the team a task, once or repeatedly."
        >
          {mayWrite && create}
        </Empty>
      )}
      {schedules !== undefined && schedules.length > 0 && (
        <ul className="items" aria-label="Schedules">
          {schedules.map((schedule) => (
            <ScheduleEntry
              key={schedule.id}
              schedule={schedule}
              actions={
                mayWrite
                  ? {
                      onRun: () => run(schedule),
                      onEnable: (enabled) => change(schedule, enabled),
                      onEdit: () => setForm(schedule),
                      onDelete: () => remove(schedule),
                    }
                  : undefined
              }
            />
          ))}
        </ul>
      )}
      {hasMore && (
        <button className="button" type="button" onClick={loadMore}>
          Show more
        </button>
      )}
      {form !== undefined && (
        <ScheduleForm
          team={team}
          schedule={form === "new" ? undefined : form}
          onClose={() => setForm(undefined)}
          onSaved={reload}
        />
      )}
    </div>
  );
}
