import { lazy, Suspense, useState } from "react";
import type { ComponentData } from "../forms/catalogue.ts";
import { Dialog } from "../parts/dialog.tsx";
import { ComponentForm } from "./component-form.tsx";
import { Templates } from "./templates.tsx";

const TeamForm = lazy(async () => {
  const { TeamForm: component } = await import("../forms/team-form.tsx");
  return { default: component };
});

const WAYS = { template: "Template", form: "Form", json: "Component JSON" } as const;
export type Way = keyof typeof WAYS;

interface NewTeamProps {
  onClose: () => void;
  /** What it shows at first. */
  way: Way;
}

export function NewTeam({ onClose, way: first }: NewTeamProps) {
  const [way, setWay] = useState<Way>(first);
  const [draft, setDraft] = useState<ComponentData>();
  return (
    <Dialog title="New team" onClose={onClose} wide>
      <div className="segments" role="group" aria-label="What the team is made from">
        {(Object.keys(WAYS) as Way[]).map((name) => (
          <button key={name} type="button" aria-pressed={way === name} onClick={() => setWay(name)}>
            {WAYS[name]}
          </button>
        ))}
      </div>
      {way === "template" && <Templates />}
      {way === "form" && (
        <Suspense
          fallback={
            <p className="loading" role="status">
              Loading
            </p>
          }
        >
          <TeamForm draft={draft} onDraft={setDraft} />
        </Suspense>
      )}
      {way === "json" && (
        <ComponentForm begin={draft === undefined ? "" : JSON.stringify(draft, null, 2)} />
      )}
    </Dialog>
  );
}
