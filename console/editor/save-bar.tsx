import { useId, useState } from "react";
import { ApiError, type NotedTeam, type TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Problem } from "../parts/problem.tsx";
import { useNotices } from "../shell/notices.tsx";
import type { CatalogueTeam } from "../component/catalogue.ts";
import { FoundMistakes } from "./found-mistakes.tsx";
import { mistakesIn } from "../inputs/mistakes.tsx";
import type { ValuePath } from "../component/value-path.ts";
import { TryInFork } from "./try-in-fork.tsx";
import type { Checked } from "./use-checked.ts";
import type { Draft } from "./use-draft.ts";

interface SaveBarProps {
  handle: TeamClient;
  team: TeamView;
  draft: Draft;
  checked: Checked;
  /** Shows where a mistake is. */
  onShow: (path: ValuePath) => void;
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
  const { tell } = useNotices();
  const task = useButtonAction();
  const reason = useId();
  const busy = BUSY[team.status];
  const { theirs } = draft;
  const component = draft.component as CatalogueTeam;
  /** @param version the stored one that it replaces */
  const save = async (version: number): Promise<void> => {
    draft.refuse(undefined);
    try {
      onSaved(await handle.replaceComponent(component, { version }));
    } catch (error) {
      if (isReplaced(error)) onReplaced();
      draft.refuse(error as Error);
      throw error;
    }
  };
  const load = (): void => {
    draft.load();
    tell("This is the saved version. Undo (Ctrl+Z) brings your changes back.");
  };
  const button = (name: string, version: number, kind: string) => (
    <button
      className={`button ${kind}`}
      type="button"
      disabled={busy !== undefined || task.busy}
      aria-busy={task.busy}
      aria-describedby={reason}
      onClick={() => void task.run(() => save(version))}
    >
      {name}
    </button>
  );
  return (
    <section className="save-bar" aria-label="Unsaved changes">
      <p role="status" id={reason} className={theirs === undefined ? "muted" : "replaced"}>
        {theirs === undefined
          ? (busy ?? "Unsaved changes")
          : [replacedText(draft.version, theirs), busy].join(" ")}
      </p>
      <div className="buttons">
        {theirs === undefined ? (
          <button className="button" type="button" onClick={draft.discard}>
            Discard
          </button>
        ) : (
          <button className="button" type="button" onClick={load}>
            Load theirs
          </button>
        )}
        <button className="button" type="button" onClick={() => setForking(true)}>
          Try in a fork
        </button>
        {theirs === undefined
          ? button("Save", draft.version, "primary")
          : button("Save over theirs", theirs, "danger")}
      </div>
      {/* Mistakes at known places are listed below, and a replaced component is described above. */}
      {mistakesIn(task.error).length === 0 && !(isReplaced(task.error) && theirs !== undefined) && (
        <Problem error={task.error} />
      )}
      <FoundMistakes
        component={draft.component}
        checked={checked}
        onChange={draft.change}
        onShow={onShow}
      />
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

function isReplaced(error: unknown): boolean {
  return error instanceof ApiError && error.code === "component_replaced";
}

function replacedText(mine: number, theirs: number): string {
  return (
    `Someone else or another tab changed this team: you started from version ${mine}, and version ${theirs} is saved now. ` +
    "Your changes are kept here but not saved."
  );
}
