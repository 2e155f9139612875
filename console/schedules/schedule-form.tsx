import { useState } from "react";
import type { ScheduleInfo, TeamClient } from "troupe/client";
import { FormDialog } from "../dialogs/form-dialog.tsx";
import { type Conflict, ConflictField } from "../managed/conflict-field.tsx";
import { OWN_TIME_ZONE } from "./cron.ts";
import { summaryOfTask, textOfTask } from "./task.ts";
import { type When, WhenFields, whenIsComplete } from "./when-fields.tsx";

interface ScheduleFormProps {
  team: TeamClient;
  /** The schedule to change; undefined for a new one. */
  schedule: ScheduleInfo | undefined;
  onClose: () => void;
  onSaved: () => void;
}

export function ScheduleForm({ team, schedule, onClose, onSaved }: ScheduleFormProps) {
  const [when, setWhen] = useState<When>(() => presentWhen(schedule));
  const [text, setText] = useState(() => textOfTask(schedule?.task ?? null));
  const [conflict, setConflict] = useState<Conflict>(schedule?.on_conflict ?? "queue");

  const save = async (): Promise<void> => {
    const times =
      when.kind === "cron"
        ? { cron: when.cron.trim(), timezone: when.timezone }
        : { at: new Date(when.at).toISOString() };
    const given = text !== undefined && { task: text.trim() === "" ? null : text };
    const fields = { ...times, on_conflict: conflict, ...given };
    await (schedule === undefined
      ? team.createSchedule(fields)
      : team.changeSchedule(schedule.id, fields));
    onSaved();
    onClose();
  };
  return (
    <FormDialog
      title={schedule === undefined ? "New schedule" : "Edit schedule"}
      button={schedule === undefined ? "Create schedule" : "Save"}
      complete={whenIsComplete(when)}
      wide
      onSubmit={save}
      onClose={onClose}
    >
      <WhenFields when={when} onChange={setWhen} />
      {text !== undefined ? (
        <label className="field">
          <span>Task (optional; empty to continue the conversation)</span>
          <textarea rows={4} value={text} onChange={(event) => setText(event.target.value)} />
        </label>
      ) : (
        <p className="muted">The task stays the same: {summaryOfTask(schedule?.task ?? null)}</p>
      )}
      <ConflictField conflict={conflict} onChange={setConflict} />
    </FormDialog>
  );
}

function presentWhen(schedule: ScheduleInfo | undefined): When {
  const cron = schedule?.cron ?? "0 8 * * 1-5";
  const timezone = schedule?.timezone ?? OWN_TIME_ZONE;
  if (schedule?.at === undefined || schedule.at === null) {
    return { kind: "cron", cron, timezone, at: "" };
  }
  return { kind: "at", cron, timezone, at: localTime(new Date(schedule.at)) };
}

/** The value for a time field: in the browser's time zone, to the minute. */
function localTime(date: Date): string {
  const shifted = new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  return shifted.toISOString().slice(0, 16);
}
