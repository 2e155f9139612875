import { type FormEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, type CreateTeam } from "troupe/client";
import { useTroupe } from "troupe/react";
import { useLocation } from "wouter";
import { stepsOf } from "../parts/json-path.ts";
import { Problem } from "../parts/problem.tsx";
import { useLoaded } from "../hooks/use-loaded.ts";
import { useTask } from "../hooks/use-task.ts";
import { Catalogue, type ComponentData } from "./catalogue.ts";
import { type ErrorTree, errorTree } from "./error-tree.ts";
import { SchemaForm } from "./schema-form.tsx";

const SCHEMA = { type: "object" } as const;
const UI = { "ui:field": "component" };
const FIRST = "autogen_agentchat.teams.RoundRobinGroupChat";

export interface TeamFormProps {
  /** What was filled in before; undefined at first. */
  draft: ComponentData | undefined;
  onDraft: (draft: ComponentData | undefined) => void;
}

/** Creates a team from a form that is made from the schemas of the server's components. */
export function TeamForm({ draft, onDraft }: TeamFormProps) {
  const client = useTroupe();
  const load = useCallback(async () => new Catalogue(await client.components()), [client]);
  const { value: catalogue, error } = useLoaded(load);
  if (error !== undefined) return <Problem error={error} />;
  if (catalogue === undefined) {
    return (
      <p className="loading" role="status">
        Loading
      </p>
    );
  }
  return <Fields catalogue={catalogue} draft={draft} onDraft={onDraft} />;
}

function Fields({ catalogue, draft, onDraft }: TeamFormProps & { catalogue: Catalogue }) {
  const client = useTroupe();
  const [, navigate] = useLocation();
  const [label, setLabel] = useState("");
  const [mistakes, setMistakes] = useState<ErrorTree>();
  const task = useTask();
  const form = useRef<HTMLFormElement>(null);
  const first = useMemo(() => catalogue.empty(FIRST), [catalogue]);
  const data = draft ?? first;
  useEffect(() => {
    if (mistakes !== undefined) showFirst(form.current);
  }, [mistakes]);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void task.run(async () => {
      setMistakes(undefined);
      try {
        const component = data as unknown as NonNullable<CreateTeam["component"]>;
        const { id } = await client.teams.create({ component, label: label || null });
        navigate(`/teams/${id}`);
      } catch (refusal) {
        const found = refusal instanceof ApiError ? (refusal.problem.errors ?? []) : [];
        setMistakes(
          errorTree(
            found.map(({ path, message }) => ({ steps: stepsOf(path), message: inWords(message) })),
          ),
        );
        throw refusal;
      }
    });
  };
  return (
    <form ref={form} className="component-form" noValidate onSubmit={submit}>
      <SchemaForm
        schema={SCHEMA}
        ui={UI}
        data={data}
        onChange={(next) => onDraft(next as ComponentData | undefined)}
        errors={mistakes}
        catalogue={catalogue}
      />
      <label className="field">
        <span>Label (optional)</span>
        <input value={label} maxLength={200} onChange={(event) => setLabel(event.target.value)} />
      </label>
      <Problem error={task.error} />
      <div className="buttons">
        <button className="button primary" disabled={task.busy} aria-busy={task.busy}>
          Create team
        </button>
      </div>
    </form>
  );
}

/** What the server says of a field that was left empty. */
function inWords(message: string): string {
  return message.endsWith("received undefined") ? "Is missing" : message;
}

/** Moves the focus to the first field with a mistake. */
function showFirst(form: HTMLElement | null): void {
  const field = form?.querySelector(".field-errors")?.closest(".form-field, .component-fields");
  const control = field?.querySelector<HTMLElement>("input, textarea, select");
  control?.focus();
  control?.scrollIntoView({ block: "center" });
}
