import { useId, useState } from "react";
import type { NotedTeam, TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import { useTask } from "../hooks/use-task.ts";
import { Problem } from "../parts/problem.tsx";
import type { TeamComponent } from "../component/catalogue.ts";
import { FoundMistakes } from "./found-mistakes.tsx";
import { mistakesIn } from "../fields/mistakes.tsx";
import type { Place } from "../component/places.ts";
import { ReplacedMeanwhile, replaceVersion } from "../component/replace.ts";
import { TryInFork } from "./try-in-fork.tsx";
import type { Checked } from "./use-checked.ts";
import type { Draft } from "./use-draft.ts";

interface SaveBarProps {
  handle: TeamClient;
  team: TeamView;
  draft: Draft;
  checked: Checked;
  /** Shows where a mistake is. */
  onShow: (place: Place) => void;
  onSaved: (team: NotedTeam) => void;
  /** Called when the stored component turned out to be another one. */
  onReplaced: () => void;
}

/** Why a team at work cannot be saved. */
const BUSY: Readonly<Partial<Record<TeamView["status"], string>>> = {
  running: "A run is active. Save when it has ended, or try the changes in a fork now.",
  waiting: "The run waits for an answer. Save when it has ended, or try the changes in a fork now.",
  paused: "The run is paused. Save when it has ended, or try the changes in a fork now.",
};

/** Saves the changes to a team, tries them in a fork, or discards them. */
export function SaveBar(props: SaveBarProps) {
  const { handle, team, draft, checked, onShow, onSaved, onReplaced } = props;
  const [forking, setForking] = useState(false);
  const task = useTask();
  const reason = useId();
  const busy = BUSY[team.status];
  const component = draft.component as unknown as TeamComponent;
  const isReplaced = task.error instanceof ReplacedMeanwhile;
  const save = async (replacing: () => Promise<NotedTeam>): Promise<void> => {
    draft.refuse(undefined);
    try {
      onSaved(await replacing());
    } catch (error) {
      if (error instanceof ReplacedMeanwhile) onReplaced();
      draft.refuse(error as Error);
      throw error;
    }
  };
  return (
    <section className="save-bar" aria-label="Unsaved changes">
      <p role="status" id={reason} className="muted">
        {busy ?? "Unsaved changes"}
      </p>
      <div className="buttons">
        <button className="button" type="button" onClick={draft.discard}>
          Discard
        </button>
        <button className="button" type="button" onClick={() => setForking(true)}>
          Try in a fork
        </button>
        <button
          className="button primary"
          type="button"
          disabled={busy !== undefined || task.busy}
          aria-busy={task.busy}
          aria-describedby={reason}
          onClick={() =>
            void task.run(() => save(() => replaceVersion(handle, draft.version, draft.component)))
          }
        >
          Save
        </button>
      </div>
      {/* Mistakes at known places are listed below. */}
      {mistakesIn(task.error).length === 0 && <Problem error={task.error} />}
      {isReplaced && (
        <div className="save-bar-replaced">
          <p className="muted">
            Nothing was saved. Discard your changes to see theirs, or replace theirs with yours.
          </p>
          <button
            className="button danger"
            type="button"
            disabled={busy !== undefined || task.busy}
            onClick={() => void task.run(() => save(() => handle.replaceComponent(component)))}
          >
            Replace theirs
          </button>
        </div>
      )}
      <FoundMistakes component={draft.component} checked={checked} onShow={onShow} />
      {forking && (
        <TryInFork
          team={handle}
          component={component}
          messages={team.messages}
          onClose={() => setForking(false)}
        />
      )}
    </section>
  );
}
