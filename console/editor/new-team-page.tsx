import { useCallback, useEffect, useMemo, useState } from "react";
import type { NotedTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { Link, useLocation, useSearchParams } from "wouter";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useButtonAction } from "../hooks/use-button-action.ts";
import { Failure } from "../parts/failure.tsx";
import { Icon } from "../parts/icon.tsx";
import { Problem } from "../parts/problem.tsx";
import { EditablePicture } from "../picture/editable-picture.tsx";
import type { Happening } from "../picture/use-drawn-team.ts";
import { useTitle } from "../shell/title.ts";
import { BLANKS, titleOf } from "../teams/kinds.ts";
import { blankTeam } from "../component/blank-team.ts";
import { Catalogue, type ComponentData, type CatalogueTeam } from "../component/catalogue.ts";
import { FoundMistakes } from "./found-mistakes.tsx";
import { mistakesIn } from "../inputs/mistakes.tsx";
import { useChecked } from "./use-checked.ts";
import { DRAFTS } from "../team/use-draft.ts";
import { useDraft } from "./use-draft.ts";

/** Draws a new team, from nothing or from a template, and creates it. */
export function NewTeamPage() {
  useTitle("New team");
  const client = useTroupe();
  const [parameters] = useSearchParams();
  const kind = parameters.get("kind");
  const template = parameters.get("template");
  const load = useCallback(async (): Promise<ComponentData> => {
    const [known, templates] = await Promise.all([client.components(), client.templates()]);
    const components = templates.map(({ component }) => component as ComponentData);
    const chosen = templates.find(({ name }) => name === template);
    if (chosen !== undefined) return chosen.component as ComponentData;
    if (template !== null) throw new Error(`This server has no template ${template}.`);
    const provider = Object.keys(BLANKS).find((name) => name.split(".").at(-1) === kind);
    return blankTeam(provider ?? Object.keys(BLANKS)[0] ?? "", new Catalogue(known), components);
  }, [client, kind, template]);
  const { value, error, reload } = useLoaded(load);
  if (value !== undefined) {
    return (
      <NewTeamPicture
        key={`${kind} ${template}`}
        name={template ?? kind ?? ""}
        template={template}
        component={value}
      />
    );
  }
  return error ? (
    <Failure error={error} onRetry={reload} />
  ) : (
    <p className="loading" role="status">
      Loading
    </p>
  );
}

function labelKey(name: string): string {
  return `${DRAFTS}label.${name}`;
}

/** The label of a team that is not created yet. This tab keeps it, as it keeps the drawing. */
function useKeptLabel(name: string, raw: string): [string, (label: string) => void] {
  const [label, setLabel] = useState(() => sessionStorage.getItem(labelKey(name)) ?? raw);
  useEffect(() => {
    if (label === raw) sessionStorage.removeItem(labelKey(name));
    else sessionStorage.setItem(labelKey(name), label);
  }, [name, label, raw]);
  return [label, setLabel];
}

const QUIET: Happening = { status: "idle", texts: [], requests: [] };
const NONE: readonly never[] = [];

interface NewTeamPictureProps {
  /** The name of its draft. */
  name: string;
  template: string | null;
  component: ComponentData;
}

function NewTeamPicture({ name, template, component }: NewTeamPictureProps) {
  const client = useTroupe();
  const [, navigate] = useLocation();
  const [label, setLabel] = useKeptLabel(name, template === null ? "" : titleOf(template));
  const stored = useMemo(() => ({ component, version: 0 }), [component]);
  const draft = useDraft(`new ${name}`, stored, location.pathname + location.search);
  const checked = useChecked({ ...draft, changed: true });
  const task = useButtonAction();
  const create = async (): Promise<void> => {
    draft.refuse(undefined);
    try {
      const team = await client.teams.create({
        component: draft.component as CatalogueTeam,
        label: label || null,
        ...(template !== null && { metadata: { template } }),
      });
      draft.save((await team.get()) satisfies NotedTeam);
      sessionStorage.removeItem(labelKey(name));
      navigate(`/teams/${team.id}?view=picture`);
    } catch (error) {
      draft.refuse(error as Error);
      throw error;
    }
  };
  return (
    <div className="team new-team-page">
      <header className="team-head">
        <Link className="button quiet icon-only" href="/teams" aria-label="All teams">
          <Icon name="back" />
        </Link>
        <h1>New team</h1>
        <label className="new-team-label">
          <span className="hidden">Label</span>
          <input
            placeholder="Label (optional)"
            maxLength={200}
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
        </label>
      </header>
      <EditablePicture
        label={label || "New team"}
        draft={draft}
        checked={checked}
        mayEdit
        messages={NONE}
        now={QUIET}
        bar={(show) => (
          <section className="save-bar" aria-label="New team">
            <p role="status" className="muted">
              {draft.changed ? "Unsaved changes" : "Not created yet"}
            </p>
            <div className="buttons">
              {draft.changed && (
                <button className="button" type="button" onClick={draft.discard}>
                  Discard
                </button>
              )}
              <button
                className="button primary"
                type="button"
                disabled={task.busy}
                aria-busy={task.busy}
                onClick={() => void task.run(create)}
              >
                Create team
              </button>
            </div>
            {mistakesIn(task.error).length === 0 && <Problem error={task.error} />}
            <FoundMistakes
              component={draft.component}
              checked={checked}
              onChange={draft.change}
              onShow={show}
            />
          </section>
        )}
        notes={() => null}
      />
    </div>
  );
}
