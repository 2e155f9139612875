import { useCallback, useEffect } from "react";
import type { ChangeTask, TaskOnBoard, TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { useLoaded } from "../hooks/use-loaded.ts";
import { Icon } from "../parts/icon.tsx";
import { IconButton } from "../parts/icon-button.tsx";
import { Menu } from "../parts/menu.tsx";
import { Name } from "../parts/name.tsx";
import { Problem } from "../parts/problem.tsx";
import { useMay } from "../shell/access.tsx";
import { visibleName } from "../text/foreign.ts";
import { AddTask } from "./add-task.tsx";

const STATES: Readonly<Record<TaskOnBoard["state"], string>> = {
  open: "Open",
  claimed: "Claimed",
  done: "Done",
  dropped: "Dropped",
};

interface BoardProps {
  handle: TeamClient;
  team: TeamView;
}

/** The tasks of the team in their order. People add, move, end and delete them, also during a run. */
export default function Board({ handle, team }: BoardProps) {
  const load = useCallback(() => handle.tasks.list(), [handle]);
  const { value, error, reload } = useLoaded(load);
  const action = useButtonAction();
  const mayChange = useMay("runs:write");
  const { run, messages } = team;
  // Agents change the board when a turn is committed.
  useEffect(reload, [reload, run?.status, run?.turn, messages.length]);
  const tasks = value?.tasks ?? [];
  const act = (change: () => Promise<unknown>): void =>
    void action.run(async () => {
      await change();
      reload();
    });
  const change = (id: string, changes: ChangeTask): void =>
    act(() => handle.tasks.change(id, changes));

  return (
    <section className="board" aria-label="Tasks">
      <Problem error={error ?? action.error} />
      {value !== undefined && tasks.length === 0 && <p className="muted">No tasks yet.</p>}
      <ol>
        {tasks.map((task) => (
          <li key={task.id} data-state={task.state}>
            <div className="board-task">
              <strong>{visibleName(task.title)}</strong>
              <span className="muted">
                {STATES[task.state]}
                {task.owner !== null && (
                  <>
                    {task.state === "open" ? " for " : " by "}
                    <Name name={task.owner} />
                  </>
                )}
                {task.depends_on.length > 0 && ` after ${titlesOf(task, tasks)}`}
              </span>
              {task.note !== null && <p className="muted">{visibleName(task.note)}</p>}
            </div>
            {mayChange && (
              <TaskActions
                task={task}
                last={tasks.length - 1}
                onChange={(changes) => change(task.id, changes)}
                onDelete={() => act(() => handle.tasks.delete(task.id))}
              />
            )}
          </li>
        ))}
      </ol>
      {mayChange && <AddTask onAdd={(title) => handle.tasks.add({ title }).then(reload)} />}
    </section>
  );
}

interface TaskActionsProps {
  task: TaskOnBoard;
  /** The position of the last task. */
  last: number;
  onChange: (changes: ChangeTask) => void;
  onDelete: () => void;
}

function TaskActions({ task, last, onChange, onDelete }: TaskActionsProps) {
  const { state, position } = task;
  const title = visibleName(task.title);
  const ended = state === "done" || state === "dropped";
  return (
    <div className="board-actions">
      <IconButton
        small
        icon="up"
        name={`Move up: ${title}`}
        title="Move up"
        disabled={position === 0}
        onClick={() => onChange({ position: position - 1 })}
      />
      <IconButton
        small
        icon="down"
        name={`Move down: ${title}`}
        title="Move down"
        disabled={position === last}
        onClick={() => onChange({ position: position + 1 })}
      />
      <Menu
        summary={
          <summary className="button small quiet icon-only" aria-label={`More: ${title}`}>
            <Icon name="more" />
          </summary>
        }
      >
        {!ended && (
          <>
            <button type="button" onClick={() => onChange({ state: "done" })}>
              Mark as done
            </button>
            <button type="button" onClick={() => onChange({ state: "dropped" })}>
              Drop
            </button>
          </>
        )}
        {state !== "open" && (
          <button type="button" onClick={() => onChange({ state: "open" })}>
            Make open again
          </button>
        )}
        <button type="button" onClick={onDelete}>
          Delete
        </button>
      </Menu>
    </div>
  );
}

function titlesOf({ depends_on }: TaskOnBoard, tasks: readonly TaskOnBoard[]): string {
  const titles = depends_on.map((id) => tasks.find((one) => one.id === id)?.title ?? id);
  return titles.map((title) => visibleName(title)).join(", ");
}
