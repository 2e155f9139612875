import { useState } from "react";
import { Link } from "wouter";
import { Dialog } from "../dialogs/dialog.tsx";
import { ComponentForm } from "./component-form.tsx";
import { BLANKS, kindOf } from "./kinds.ts";
import { Templates } from "./templates.tsx";

const WAYS = { template: "Template", draw: "Draw it", json: "Component JSON" } as const;
export type Way = keyof typeof WAYS;

interface NewTeamProps {
  onClose: () => void;
  /** The source that is selected at first. */
  way: Way;
}

export function NewTeam({ onClose, way: first }: NewTeamProps) {
  const [way, setWay] = useState<Way>(first);
  return (
    <Dialog title="New team" onClose={onClose} wide>
      <div className="segments" role="group" aria-label="Create from">
        {(Object.keys(WAYS) as Way[]).map((name) => (
          <button key={name} type="button" aria-pressed={way === name} onClick={() => setWay(name)}>
            {WAYS[name]}
          </button>
        ))}
      </div>
      {way === "template" && <Templates />}
      {way === "draw" && <Blanks />}
      {way === "json" && <ComponentForm />}
    </Dialog>
  );
}

/** The kinds of teams to draw. */
function Blanks() {
  return (
    <ul className="templates">
      {Object.entries(BLANKS).map(([provider, text]) => (
        <li key={provider}>
          <Link className="template" href={`/new-team?kind=${provider.split(".").at(-1)}`}>
            <strong>{kindOf(provider)}</strong>
            <span className="muted">{text}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}
