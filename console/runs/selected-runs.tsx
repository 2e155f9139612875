import { sentenceOf } from "../parts/error-words.ts";
import { counted } from "../parts/numbers.ts";
import { useState } from "react";
import type { ListedRun } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Confirm } from "../dialogs/confirm.tsx";
import { Icon } from "../parts/icon.tsx";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { useNotices } from "../shell/notices.tsx";
import { each } from "./each.ts";

interface SelectedRunsProps {
  runs: readonly ListedRun[];
  onDone: () => void;
}

const OPEN: ReadonlySet<string> = new Set(["queued", "running", "waiting", "paused"]);

export function SelectedRuns({ runs, onDone }: SelectedRunsProps) {
  const client = useTroupe();
  const { tell, attempt } = useNotices();
  const [cancelling, setCancelling] = useState(false);
  const task = useButtonAction();
  const open = runs.filter(({ status }) => OPEN.has(status));
  const ended = runs.filter(({ status }) => status === "failed" || status === "cancelled");
  const all = async (
    chosen: readonly ListedRun[],
    done: string,
    action: (run: ListedRun) => Promise<unknown>,
  ): Promise<void> => {
    const errors = await each(chosen, action);
    const count = chosen.length - errors.length;
    if (count > 0) tell(`${counted(count, "run was", "runs were")} ${done}.`);
    onDone();
    const [first] = errors;
    if (first === undefined) return;
    await attempt(() =>
      Promise.reject(
        new Error(
          `${errors.length} of ${counted(chosen.length, "run")} couldn't be ${done}: ${sentenceOf(first)}`,
        ),
      ),
    );
  };
  return (
    <div className="selection" role="group" aria-label="Selected runs">
      <span>{runs.length} selected</span>
      <button
        className="button"
        type="button"
        disabled={ended.length === 0 || task.busy}
        aria-busy={task.busy}
        title="Retries failed and cancelled runs that are the latest of their teams"
        onClick={() =>
          void task.run(() =>
            all(ended, "retried", ({ team_id, id }) => client.team(team_id).retry(id)),
          )
        }
      >
        <Icon name="retry" />
        Retry {ended.length > 0 && ended.length}
      </button>
      <button
        className="button"
        type="button"
        disabled={open.length === 0}
        onClick={() => setCancelling(true)}
      >
        <Icon name="close" />
        Cancel {open.length > 0 && open.length}
      </button>
      <button className="button quiet" type="button" onClick={onDone}>
        Clear selection
      </button>
      {cancelling && (
        <Confirm
          title={`Cancel ${open.length === 1 ? "this run" : `these ${open.length} runs`}?`}
          text="They stop at once. You can retry a cancelled run while it is the latest of its team."
          button={open.length === 1 ? "Cancel the run" : "Cancel the runs"}
          action={() =>
            all(open, "cancelled", ({ team_id, id }) => client.team(team_id).stop(id, "now"))
          }
          onClose={() => setCancelling(false)}
        />
      )}
    </div>
  );
}
