import type { NotedTeam, TeamClient } from "troupe/client";
import type { TeamView } from "troupe/react";
import { Link, useSearchParams } from "wouter";
import { SaveBar } from "../editor/save-bar.tsx";
import { useChecked } from "../editor/use-checked.ts";
import { useDraft } from "../editor/use-draft.ts";
import { useMay } from "../shell/access.tsx";
import { classOf } from "./component-json.ts";
import { EditablePicture } from "./editable-picture.tsx";
import { Ledgers } from "./ledgers.tsx";
import { useRunMessages } from "./use-run-messages.ts";

interface TeamPictureProps {
  info: NotedTeam;
  team: TeamView;
  handle: TeamClient;
  /** Called when the team was changed, here or elsewhere. */
  onChanged: () => void;
}

/** The picture of a team, with the progress of its last run. */
export function TeamPicture({ info, team, handle, onChanged }: TeamPictureProps) {
  const mayEdit = useMay("teams:write");
  const mayTry = useMay("teams:write", "runs:write");
  const [search] = useSearchParams();
  const stored = {
    component: info.component,
    version: info.component_version,
  };
  const draft = useDraft(info.id, stored, `/teams/${info.id}?view=picture`);
  const checked = useChecked(draft);
  const { messages, cut } = useRunMessages(team);
  return (
    <EditablePicture
      label={info.label ?? info.id}
      draft={draft}
      checked={checked}
      mayEdit={mayEdit}
      at={search.get("at")}
      messages={messages}
      now={team}
      tools={
        mayTry && (
          <Link className="button small" href={`/teams/${info.id}/playground`}>
            Playground
          </Link>
        )
      }
      bar={(show) =>
        draft.changed && (
          <SaveBar
            handle={handle}
            team={team}
            draft={draft}
            checked={checked}
            onShow={show}
            onSaved={(saved) => {
              draft.save(saved);
              onChanged();
            }}
            onReplaced={onChanged}
          />
        )
      }
      notes={({ component, within }) => (
        <>
          {draft.notes.length > 0 && (
            <section aria-label="Notes on what was saved">
              <p>Saved, with notes:</p>
              <ul className="notes">
                {draft.notes.map(({ path, message }) => (
                  <li key={`${path} ${message}`}>
                    <code>{path}</code> {message}
                  </li>
                ))}
              </ul>
            </section>
          )}
          {classOf(component) === "MagenticOneGroupChat" && (
            <Ledgers
              key={within.join("/")}
              team={handle}
              component={component}
              within={within}
              live={team.turns}
            />
          )}
          {cut && <p className="muted">This run is long: only its last messages are counted.</p>}
        </>
      )}
    />
  );
}
